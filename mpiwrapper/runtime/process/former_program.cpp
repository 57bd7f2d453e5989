#include "mpiwrapper/runtime/process/former_program.h"

#include "hdtrace/writer/clock.h"
#include "mpiwrapper/launcher/small_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

// -1 if it is not there.
int64_t number_of(const char* line, const char* key)
{
    const char* const found = strstr(line, key);
    return found != nullptr ? strtoll(found + strlen(key), nullptr, 10) : -1;
}

int64_t now(clockid_t clock)
{
    timespec time = {};
    clock_gettime(clock, &time);
    return time.tv_sec * nanoseconds_per_second + time.tv_nsec;
}

} // namespace

int64_t begin_of_process()
{
    char text[1024];
    read_begin("/proc/self/stat", text);
    const char* const name_end = strrchr(text, ')');
    // The name is the second field, this is the 22nd (proc(5)).
    constexpr const char* format = ") %*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s %lld";
    long long ticks = 0;
    if (name_end == nullptr || sscanf(name_end, format, &ticks) != 1)
        return INT64_MAX;
    const int64_t boot = now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME);
    return (boot + ticks * (nanoseconds_per_second / sysconf(_SC_CLK_TCK))) / nanoseconds_per_second;
}

// Another process that has ended may have had the same number.
bool is_from_former_program(const char* info_path)
{
    char line[4096];
    read_begin(info_path, line);
    return number_of(line, " pid=") == getpid() && number_of(line, " timeAdjustment=") >= begin_of_process();
}

} // namespace hdtrace::mpi
