#include "mpiwrapper/runtime/process/run_lines.h"

#include "hdtrace/settings/environment.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/process/config_file.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/process/network_place.h"
#include "mpiwrapper/runtime/process/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

constexpr size_t longest_value = 4096;

// Whose variables are recorded: MPI libraries, launchers, OpenMP, and ourselves.
constexpr const char* prefixes[] = {"OMPI_", "PMIX_", "PMI_", "SLURM_", "MPICH_", "OMP_", "HDTRACE_"};
// A variable with one of these in its name keeps its value to itself. URI: where daemons of the run listen.
constexpr const char* secret_words[] = {
    "AUTH", "CERT", "COOKIE", "CRED", "JWT",   "KEY", "PASS",
    "PRIV", "SECU", "SECRET", "SIGN", "TOKEN", "URI", "PRECONDITION_TRANSPORTS"};

// The file's content; nothing is added if it cannot be read as a whole.
bool append_file(TextBuffer& out, const char* path)
{
    constexpr size_t step = 4096;
    const size_t size = out.size();
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = -1;
    while (descriptor >= 0) {
        char* const space = out.space(step);
        length = space != nullptr ? read(descriptor, space, step) : -1;
        if (length <= 0)
            break;
        out.added(static_cast<size_t>(length));
    }
    if (descriptor >= 0)
        close(descriptor);
    if (length != 0)
        out.truncate(size);
    return length == 0;
}

// The rest of a quoted value, and how many bytes of it are left out.
void append_value(TextBuffer& out, const char* value, size_t length)
{
    const size_t kept = length < longest_value ? length : longest_value;
    out.info_escaped(value, kept).text("'");
    if (kept < length)
        out.text(" omitted=").number(static_cast<int64_t>(length - kept));
}

void append_value(TextBuffer& out, const char* value)
{
    append_value(out, value, strlen(value));
}

// What a shell reads as this text.
void append_quoted(TextBuffer& out, const char* text)
{
    const size_t plain = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                      "%+,-./:=@_^");
    if (plain > 0 && text[plain] == '\0') {
        out.string(text);
        return;
    }
    out.text("'");
    for (const char* part = text;;) {
        const size_t length = strcspn(part, "'");
        out.bytes(part, length);
        if (part[length] == '\0')
            break;
        out.text("'\\''");
        part += length + 1;
    }
    out.text("'");
}

// ---- the environment ----

bool is_wanted(const char* variable)
{
    if (is_internal_variable(variable))
        return false; // only for the process, or told elsewhere
    for (const char* const prefix : prefixes) {
        if (strncmp(variable, prefix, strlen(prefix)) == 0)
            return true;
    }
    return false;
}

bool is_secret(const char* name)
{
    for (const char* const word : secret_words) {
        if (strcasestr(name, word) != nullptr)
            return true;
    }
    return false;
}

void append_variable(TextBuffer& out, TextBuffer& name, const char* variable)
{
    const char* const equals = strchr(variable, '=');
    const size_t length = equals != nullptr ? static_cast<size_t>(equals - variable) : longest_value;
    if (length >= longest_value)
        return;
    name.clear();
    name.bytes(variable, length);
    out.text("Variable name='").info_escaped(variable, length).text("'");
    if (is_secret(name.c_string()))
        out.text(" hidden=1");
    else
        append_value(out.text(" value='"), equals + 1);
    out.text("\n");
}

// ---- the lines ----

void append_user(TextBuffer& out)
{
    // Not getpwuid(): it may load libraries and wait for a network.
    const char* const login = getenv("LOGNAME");
    const char* const name = login != nullptr ? login : getenv("USER");
    out.text("User");
    if (name != nullptr)
        append_value(out.text(" name='"), name);
    out.text(" uid=").number(getuid()).text("\n");
}

void append_versions(TextBuffer& out)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    real.MPI_Get_library_version(version, &length);
    size_t end = strlen(version);
    while (end > 0 && version[end - 1] == '\n')
        --end;
    append_value(out.text("Library version='"), version, end);
    out.text(" tracer='" HDTRACE_VERSION "'\n");
}

void append_directory(TextBuffer& out)
{
    char path[PATH_MAX];
    if (getcwd(path, sizeof path) == nullptr)
        return;
    append_value(out.text("Directory path='"), path);
    out.text("\n");
}

void append_processors(TextBuffer& out)
{
    cpu_set_t permitted[16]; // one is for 1,024 processors
    const int usable =
        sched_getaffinity(0, sizeof permitted, permitted) == 0 ? CPU_COUNT_S(sizeof permitted, permitted) : 0;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (usable > 0 && online > 0)
        out.text("Processors usable=").number(usable).text(" online=").number(online).text("\n");
}

void append_duration(TextBuffer& out, int64_t nanoseconds)
{
    for (const TimeUnit& unit : time_units()) {
        if (nanoseconds == 0 || nanoseconds % unit.nanoseconds != 0)
            continue;
        out.number(nanoseconds / unit.nanoseconds).string(unit.suffix).text("'");
        return;
    }
    out.text("0'");
}

void append_setting_value(TextBuffer& out, const Option& option)
{
    if (const char* const* const text = text_of(settings, option))
        append_value(out, *text);
    else if (option.type == Option::Type::choice)
        append_value(out, option.choices[static_cast<size_t>(number_of(settings, option))]);
    else if (option.type == Option::Type::duration)
        append_duration(out, number_of(settings, option));
    else
        out.number(number_of(settings, option)).text("'");
}

// All, or only those that may differ from other processes'.
void append_settings(TextBuffer& out, bool all)
{
    static constexpr const char* names[] = {"default", "file", "environment", "hdtrace-run"};
    for (const Option& option : options()) {
        const Origin origin = origin_of(option);
        if (!all && (origin == Origin::built_in || option.type == Option::Type::notes))
            continue;
        append_setting_value(out.text("Setting name='").string(option.variable).text("' value='"), option);
        out.text(" from='").string(names[static_cast<int>(origin)]).text("'\n");
    }
}

void append_rules(TextBuffer& out)
{
    for (const Rule& rule : rules_of_file()) {
        out.text("Rule record='").string(record_names[static_cast<int>(rule.record)]);
        out.text("' line=").number(rule.line);
        for (int i = 0; i < condition_count; ++i) {
            const auto condition = static_cast<Condition>(i);
            if (rule.has(condition))
                append_value(out.text(" ").string(kind_of(condition).key).text("='"), rule.text(condition));
        }
        out.text("\n");
    }
}

void append_notes(TextBuffer& out)
{
    for (const char* note = settings.note; *note != '\0';) {
        const size_t length = strcspn(note, "\n");
        const char* const value = strchr(note, '=') + 1; // without one it were no note
        const size_t key_length = static_cast<size_t>(value - note) - 1;
        append_value(out.text("Note key='"), note, key_length);
        append_value(out.text(" value='"), value, length - key_length - 1);
        out.text("\n");
        note += length + (note[length] != '\0' ? 1 : 0);
    }
}

} // namespace

void append_environment(TextBuffer& out, const char* variables, size_t size)
{
    TextBuffer name;
    const char* const end = variables + size;
    for (const char* variable = variables; variable < end; variable += strlen(variable) + 1) {
        if (is_wanted(variable))
            append_variable(out, name, variable);
    }
}

void append_command(TextBuffer& out, const char* arguments, size_t size)
{
    TextBuffer line;
    const char* const end = arguments + size;
    for (const char* argument = arguments; argument < end; argument += strlen(argument) + 1) {
        if (argument != arguments)
            line.text(" ");
        append_quoted(line, argument);
    }
    if (line.size() == 0 || line.bad())
        return;
    append_value(out.text("Command line='"), line.data(), line.size());
    out.text("\n");
}

void describe_run()
{
    const bool is_first = is_first_of_program(this_process().rank);
    TextBuffer lines, file;
    if (append_file(file, "/proc/self/cmdline"))
        append_command(lines, file.c_string(), file.size());
    append_directory(lines);
    append_processors(lines);
    append_settings(lines, is_first);
    if (is_first_on_host())
        append_network_place(lines, this_process().host, "");
    if (is_first) {
        append_user(lines);
        append_versions(lines);
        append_rules(lines);
        append_notes(lines);
        file.clear();
        // As the program found it, whatever has been made of it since.
        if (append_file(file, "/proc/self/environ"))
            append_environment(lines, file.c_string(), file.size());
    }
    write_info(lines);
}

} // namespace hdtrace::mpi
