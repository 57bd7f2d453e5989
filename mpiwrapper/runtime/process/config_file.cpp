#include "mpiwrapper/runtime/process/config_file.h"

#include "hdtrace/settings/config.h"
#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/recording/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <new>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

const char* path = nullptr;
std::span<const Rule> rules;
uint64_t options_set = 0;

// All of the file, with as many bytes behind it; null with errno. Settings point into it, so it stays.
char* read_whole(size_t& size)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0)
        return nullptr;
    struct stat status;
    char* text = nullptr;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size > static_cast<off_t>(largest_config)) {
        errno = errno != 0 ? errno : EINVAL;
    } else {
        const auto most = static_cast<size_t>(status.st_size);
        text = static_cast<char*>(own_malloc(2 * (most + 1)));
        const ssize_t length = text != nullptr ? read(descriptor, text, most) : -1;
        if (length < 0) {
            own_free(text);
            text = nullptr;
        } else {
            size = static_cast<size_t>(length);
            text[size] = '\0';
        }
    }
    close(descriptor);
    return text;
}

void say_cannot_be_read()
{
    if (!is_first_rank())
        return;
    char memory[256];
    const char* const reason =
        errno == EINVAL ? "not a file of at most 1 MiB" : strerror_r(errno, memory, sizeof memory);
    Diagnostic(incomplete_trace).text(path).text(": ").text(reason).text("; its settings do not hold");
}

void say_problem(void*, const ConfigProblem& problem)
{
    if (!is_first_rank())
        return;
    Diagnostic line(incomplete_trace);
    line.text(path).text(":").number(problem.line).text(": ");
    if (problem.key != nullptr)
        line.text(problem.key).text(": ");
    line.text("'").bytes(problem.word.text, problem.word.length).text("' is not ").text(problem.expected);
    if (problem.nearest != nullptr)
        line.text("; did you mean ").text(problem.nearest).text("?");
    line.text(problem.is_in_rule ? "; the rule does not hold" : "; it is ignored");
}

void read_text(char* text, size_t size)
{
    const size_t most_rules = count_rules(text);
    Rule* const room = static_cast<Rule*>(own_calloc(most_rules + 1, sizeof(Rule)));
    if (room == nullptr) {
        own_free(text);
        return;
    }
    Config config = {settings, {room, most_rules + 1}, ruled_functions(), say_problem, nullptr};
    read_config(config, text, size);
    rules = {room, config.rule_count};
    options_set = config.options;
}

} // namespace

void read_config_file()
{
    path = secure_getenv(config_variable);
    if (path == nullptr || *path == '\0')
        return;
    const int saved_errno = errno;
    errno = 0;
    size_t size = 0;
    if (char* const text = read_whole(size))
        read_text(text, size);
    else
        say_cannot_be_read();
    errno = saved_errno;
}

std::span<const Rule> rules_of_file()
{
    return rules;
}

uint64_t options_of_file()
{
    return options_set;
}

} // namespace hdtrace::mpi
