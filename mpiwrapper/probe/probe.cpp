// hdtrace-probe [LIBRARY [run]]: what a process sees that hdtrace-run and a launcher have started, as a line
// of JSON: its clock, and whether the processor can watch memory. With a library: which one it is, which can
// be asked before MPI_Init. With "run": MPI_Init, calls whose time is taken, and MPI_Finalize.
//
// Only functions are called whose arguments are the same for all MPI libraries.
#include "hdtrace/writer/clock.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using hdtrace::detail::read_clock;

constexpr int version_room = 8192; // as much as any library has

// It is kept until the end: MPI libraries flush standard output, and lines of several processes must not be
// mixed.
FILE* line;

void put_string(const char* name, const char* text)
{
    fprintf(line, ", \"%s\": \"", name);
    for (; *text != '\0'; ++text) {
        if (*text == '"' || *text == '\\')
            fprintf(line, "\\%c", *text);
        else
            putc(static_cast<unsigned char>(*text) < ' ' ? ' ' : *text, line);
    }
    putc('"', line);
}

/// How long one of them takes, in nanoseconds: the quickest of some rounds, which others have disturbed
/// least.
template <typename Work> double time_of(int count, Work work)
{
    int64_t shortest = INT64_MAX;
    for (int round = 0; round < 5; ++round) {
        const int64_t begin = read_clock(CLOCK_MONOTONIC);
        for (int i = 0; i < count; ++i)
            work();
        const int64_t duration = read_clock(CLOCK_MONOTONIC) - begin;
        shortest = duration < shortest ? duration : shortest;
    }
    return static_cast<double>(shortest) / count;
}

const char* name_of_clock()
{
#ifdef HDTRACE_TICK_COUNTER
    if (hdtrace::detail::scale_version != 0)
        return hdtrace::detail::tick_counter_source;
#endif
    return "clock_gettime";
}

void put_clock()
{
    // The counter is used once its rate is known.
    const int64_t begin = read_clock(CLOCK_MONOTONIC);
    hdtrace::Clock clock;
    while (read_clock(CLOCK_MONOTONIC) - begin < 20'000'000)
        clock.now();
    const double nanoseconds = time_of(100'000, [&clock] {
        const int64_t time = clock.now();
        asm volatile("" ::"r"(time));
    });
    fprintf(line, ", \"clock\": \"%s\", \"clock_ns\": %.1f", name_of_clock(), nanoseconds);
}

/// As the tracer uses it (runtime/buffers/watchpoints.h).
void put_watchpoints()
{
    alignas(8) static char watched[8];
    perf_event_attr attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_BREAKPOINT;
    attributes.bp_type = HW_BREAKPOINT_RW;
    attributes.bp_addr = reinterpret_cast<uintptr_t>(watched);
    attributes.bp_len = sizeof watched;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    constexpr int this_thread = 0, any_processor = -1, no_group = -1;
    const long event =
        syscall(SYS_perf_event_open, &attributes, this_thread, any_processor, no_group, PERF_FLAG_FD_CLOEXEC);
    fprintf(line, ", \"watchpoints\": %s", event >= 0 ? "true" : "false");
    if (event >= 0)
        close(static_cast<int>(event));
}

/// The file of the tracer that was preloaded.
void put_tracer()
{
    void* const tracer = dlsym(RTLD_DEFAULT, "hdR_tracer");
    Dl_info object;
    if (tracer != nullptr && dladdr(tracer, &object) != 0)
        put_string("tracer", object.dli_fname);
}

template <typename Function> Function find(const char* name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

void put_library(void* library)
{
    static char version[version_room];
    int length = 0;
    const auto get = reinterpret_cast<int (*)(char*, int*)>(dlsym(library, "MPI_Get_library_version"));
    if (get != nullptr && get(version, &length) == 0) {
        version[strcspn(version, "\n")] = '\0';
        put_string("library", version);
    }
    Dl_info object;
    if (get != nullptr && dladdr(reinterpret_cast<void*>(get), &object) != 0)
        put_string("file", object.dli_fname);
}

void run_mpi()
{
    const auto init = find<int (*)(int*, char***)>("MPI_Init");
    const auto control = find<int (*)(int, ...)>("MPI_Pcontrol");
    const auto finalize = find<int (*)()>("MPI_Finalize");
    if (init == nullptr || control == nullptr || finalize == nullptr || init(nullptr, nullptr) != 0) {
        put_string("error", "MPI_Init failed");
        return;
    }
    fprintf(line, ", \"call_ns\": %.1f", time_of(10'000, [control] { control(1); }));
    finalize();
}

} // namespace

int main(int argc, char** argv)
{
    char* text = nullptr;
    size_t length = 0;
    line = open_memstream(&text, &length);
    if (line == nullptr)
        return 1;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    fprintf(line, "{\"probe\": 1, \"pid\": %d", static_cast<int>(getpid()));
    put_string("host", host);
    put_string("mark", getenv("HDTRACE_DOCTOR") != nullptr ? getenv("HDTRACE_DOCTOR") : "");
    put_tracer();
    if (argc == 1) {
        put_clock();
        put_watchpoints();
    }
    if (argc > 1) {
        void* const library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
        if (library == nullptr)
            put_string("error", dlerror());
        else
            put_library(library);
        if (library != nullptr && argc > 2)
            run_mpi();
    }
    fputs("}\n", line);
    return fclose(line) == 0 && write(STDOUT_FILENO, text, length) == static_cast<ssize_t>(length) ? 0 : 1;
}
