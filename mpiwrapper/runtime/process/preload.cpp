#include "mpiwrapper/runtime/process/preload.h"

#include "hdtrace/settings/environment.h"
#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/settings.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

/// The only process that hdtrace-run was started for; -1 if there may be others.
long only_process()
{
    const char* const meant = secure_getenv(process_variable);
    return meant != nullptr && !settings.follow ? atol(meant) : -1;
}

/// In memory that children of fork() share. Null where nobody asks.
bool* leaves_trace = nullptr;

} // namespace

bool is_meant_for_another_process()
{
    const long only = only_process();
    return only != -1 && only != getpid();
}

void expect_trace()
{
    if (only_process() != getpid())
        return;
    void* const memory =
        mmap(nullptr, sizeof *leaves_trace, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        leaves_trace = static_cast<bool*>(memory);
}

void note_trace()
{
    if (leaves_trace != nullptr)
        *leaves_trace = true;
}

void tell_of_missing_trace()
{
    if (only_process() != getpid() || !is_first_rank() || (leaves_trace != nullptr && *leaves_trace))
        return;
    Diagnostic(incomplete_trace)
        .text(program_invocation_short_name)
        .text(" called no MPI function that could be traced, and leaves no trace"
              " (with --follow, what it starts is traced, too)");
}

// Linkers export those of a program's functions that its libraries have as well. Other tools that programs
// are linked with have no PMPI_Init.
bool is_behind_program()
{
    Dl_info first, own;
    link_map* object = nullptr;
    const void* const found = dlsym(RTLD_DEFAULT, "PMPI_Init");
    const auto here = reinterpret_cast<const void*>(&is_behind_program);
    const bool is_known = found != nullptr && dladdr(here, &own) != 0 &&
                          dladdr1(found, &first, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0;
    const bool is_of_program = is_known && object->l_prev == nullptr;
    return is_of_program && first.dli_fbase != own.dli_fbase;
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
