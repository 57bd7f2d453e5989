#include "mpiwrapper/runtime/process/preload.h"

#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/process/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace hdtrace::mpi {

bool is_meant_for_another_process()
{
    const char* const meant = secure_getenv("HDTRACE_PID");
    return meant != nullptr && !settings.follow && atol(meant) != getpid();
}

void leave_preload_list()
{
    constexpr const char* own_name = "libHDTraceMPIWrapper";
    const char* const list = getenv("LD_PRELOAD");
    if (list == nullptr || settings.follow)
        return;
    TextBuffer rest;
    for (const char *part = list, *end; *part != '\0'; part = end) {
        end = part + strcspn(part, ": ");
        const size_t length = static_cast<size_t>(end - part);
        if (length > 0 && memmem(part, length, own_name, strlen(own_name)) == nullptr) {
            if (rest.size() > 0)
                rest.text(":");
            rest.bytes(part, length);
        }
        end += strspn(end, ": ");
    }
    if (rest.size() > 0)
        setenv("LD_PRELOAD", rest.c_string(), 1);
    else
        unsetenv("LD_PRELOAD");
}

} // namespace hdtrace::mpi
