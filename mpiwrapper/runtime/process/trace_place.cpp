#include "mpiwrapper/runtime/process/trace_place.h"

#include "hdtrace/writer/file_name.h"
#include "hdtrace/writer/node_file.h"
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/trace_file.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/former_program.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/process/settings.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

namespace hdtrace::mpi {

namespace {

const char* base = "";
const char* prefix = "";
bool has_reported = false;

// With its parents, as far as they are missing. Other processes of the program may do the same at the same
// time.
void make_directory(const char* path)
{
    char partial[PATH_MAX];
    int error = 0;
    const char* end = path;
    do {
        end = strchrnul(end + 1, '/');
        const size_t length = static_cast<size_t>(end - path);
        if (length >= sizeof partial) {
            error = ENAMETOOLONG;
            break;
        }
        memcpy(partial, path, length);
        partial[length] = '\0';
        error = mkdir(partial, 0777) != 0 && errno != EEXIST ? errno : 0;
    } while (*end != '\0');
    if (error != 0)
        report_write_error(path, error);
}

bool is_name_refused(int error)
{
    return error == EBUSY || error == EEXIST;
}

void report_other_name(int reason)
{
    Diagnostic(incomplete_trace)
        .text(reason == EBUSY
                  ? "a program of the same name, host and rank is still running; the files of this "
                    "one are "
                  : "another user's file, a link or the like has the usual name; the files of "
                    "this program are ")
        .text(prefix)
        .text("*");
}

// Tells a run from those before and after it. A process that is alone may have no launcher.
void append_launch(TextBuffer& out)
{
    const char* const launch = short_name_of_launch();
    if (*launch != '\0')
        out.text("-").string(launch);
    else if (this_process().size == 1)
        out.text("-pid").number(getpid());
}

// The user's name for it, or the program's. Jobs run at the same time and again in the same directory, and
// nobody watches them: none may take the place of another one's files.
void append_own_name(TextBuffer& out)
{
    const bool is_named = *settings.name != '\0';
    out.string(is_named ? settings.name : program_invocation_short_name);
    const char* const job = is_named ? "" : name_in_batch_system();
    if (*job != '\0')
        out.text("-").string(job);
    if (is_alone_beside_others()) // all have the same rank
        out.text("-pid").number(getpid());
    else if (settings.runs_apart) // a job may start several, and not tell them apart
        append_launch(out);
}

// The world, and a number where the usual name is not free.
void append_base_name(TextBuffer& out, int number)
{
    append_own_name(out);
    if (*this_process().world_label != '\0')
        out.text("-world").string(this_process().world_label);
    if (number > 1)
        out.text("-").number(number);
}

// "<directory>/<base>_<host>"
void append_path_on_host(TextBuffer& out, const char* directory, TextBuffer& base_name)
{
    out.string(directory).text("/");
    append_first_label(out, base_name.c_string());
    out.text("_");
    append_file_label(out, this_process().host);
}

bool wants_node_file()
{
    return settings.files == Files::node && *settings.keep_last == '\0'; // whose room it could not use again
}

int open_node_file(TextBuffer& path_on_host)
{
    return path_on_host.bad() ? ENOMEM
                              : NodeFile::open(path_on_host.c_string(), {name_of_run(), begin_of_process()});
}

// Readers would take what is there for the trace of the first thread.
bool is_first_trace_taken(TextBuffer& new_prefix)
{
    TextBuffer path;
    path.string(new_prefix.c_string()).text("0.trc");
    return TraceOutput::is_taken(path.c_string());
}

// Takes these names, also if nothing can be written there. EBUSY if they belong to a living process, EEXIST
// if to something that is not ours, ENOMEM if memory is short.
int open_info_as(TextBuffer& new_base, TextBuffer& new_prefix)
{
    TextBuffer path;
    path.string(new_prefix.c_string()).text("0.info");
    const bool is_known = !new_base.bad() && !new_prefix.bad() && !path.bad();
    if (is_known && is_from_former_program(path.c_string()))
        return EBUSY;
    if (is_known && is_first_trace_taken(new_prefix))
        return EEXIST;
    char* const kept_base = own_strdup(new_base.c_string());
    char* const kept_prefix = own_strdup(new_prefix.c_string());
    const int error =
        is_known && kept_base != nullptr && kept_prefix != nullptr ? open_info(path.c_string()) : ENOMEM;
    if (is_name_refused(error) || error == ENOMEM) {
        own_free(kept_base);
        own_free(kept_prefix);
        return error;
    }
    base = kept_base;
    prefix = kept_prefix;
    if (error != 0)
        report_write_error(path.c_string(), error);
    return 0;
}

} // namespace

bool open_trace_place()
{
    make_directory(settings.directory);
    // The program may change its directory later.
    char absolute[PATH_MAX];
    const char* const directory =
        realpath(settings.directory, absolute) != nullptr ? absolute : settings.directory;
    constexpr int most_names = 9999;
    int first_error = 0, error = EBUSY;
    for (int number = 1; is_name_refused(error) && number <= most_names; ++number) {
        TextBuffer new_base, new_prefix;
        append_base_name(new_base, number);
        append_path_on_host(new_prefix, directory, new_base);
        error = wants_node_file() ? open_node_file(new_prefix) : 0;
        new_prefix.text("_").number(this_process().rank).text("_");
        if (error == 0)
            error = open_info_as(new_base, new_prefix);
        if (number == 1)
            first_error = error;
    }
    if (error != 0)
        report_write_error(directory, error);
    else if (first_error != 0)
        report_other_name(first_error);
    return error == 0;
}

const char* base_name()
{
    return base;
}

const char* path_prefix()
{
    return prefix;
}

void report_write_error(const char* path, int error)
{
    if (__atomic_test_and_set(&has_reported, __ATOMIC_RELAXED))
        return;
    const char* const reason = strerrordesc_np(error);
    Diagnostic(incomplete_trace)
        .text("cannot write ")
        .text(path)
        .text(": ")
        .text(reason != nullptr ? reason : "unknown error")
        .text("; the program goes on, but its trace will not be whole");
}

} // namespace hdtrace::mpi
