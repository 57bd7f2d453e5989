// hdtrace-run: runs a program with the tracer preloaded into it, between mpirun and the program.
//
// A compiled program and not a script, because shells do not hand on the environment as it was (dash drops
// exported functions and every name that is not its own, bash changes PWD and SHLVL).

#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/launcher/program_file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <getopt.h>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

enum class Check { none, number, not_empty };

struct Option {
    const char* name;
    char letter; // 0: none
    const char* variable;
    const char* fixed_value; // nullptr: the option takes a value
    Check check;
    long min;
    long max;
};

#include "hdtrace_run_options.inc"

constexpr int exit_usage = 2;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

[[noreturn]] void usage_error(const std::string& message = {})
{
    if (!message.empty()) { // else getopt_long() has said it
        std::cerr << "hdtrace-run: " << message << '\n';
    }
    std::cerr << "Try 'hdtrace-run --help'.\n";
    std::exit(exit_usage);
}

// ---- the command line ----

/// Understands 64K, 1M, 2G.
std::optional<long> parse_number(std::string_view text)
{
    constexpr std::string_view units = "KMG";
    const auto unit = text.empty() ? units.npos : units.find(text.back());
    const bool has_unit = unit != units.npos;
    const std::string digits(text.substr(0, text.size() - (has_unit ? 1 : 0)));
    const long factor = has_unit ? 1L << (10 * (unit + 1)) : 1;
    if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != digits.npos) {
        return {};
    }
    const long number = std::stol(digits);
    return number <= LONG_MAX / factor ? std::optional(number * factor) : std::nullopt;
}

void check_number(const Option& option, const char* text)
{
    const auto number = parse_number(text);
    if (number && *number >= option.min && *number <= option.max) {
        return;
    }
    const std::string limit =
        option.max == LONG_MAX ? " (64K, 1M) of at least " + std::to_string(option.min)
                               : " from " + std::to_string(option.min) + " to " + std::to_string(option.max);
    usage_error("--" + std::string(option.name) + ": '" + text + "' is not a number" + limit);
}

void set_variable(const Option& option)
{
    const char* value = option.fixed_value != nullptr ? option.fixed_value : optarg;
    if (option.check == Check::number) {
        check_number(option, value);
    } else if (option.check == Check::not_empty && *value == '\0') {
        usage_error("--" + std::string(option.name) + " must not be empty");
    }
    setenv(option.variable, value, 1);
}

std::filesystem::path library()
{
    const auto directory = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return (directory / HDTRACE_LIBRARY_FROM_HERE).lexically_normal();
}

void set_variable_by_letter(int letter)
{
    for (const Option& option : options) {
        if (option.letter == letter) {
            set_variable(option);
        }
    }
}

/// Sets the environment from the options; returns the index of the program's name.
int parse_command_line(int argc, char** argv)
{
    enum { row_of_table, version = CHAR_MAX + 1, print_library };
    std::string letters = "+h";
    std::vector<option> names;
    for (const Option& option : options) {
        const bool takes_value = option.fixed_value == nullptr;
        names.push_back({option.name, takes_value ? required_argument : no_argument, nullptr, row_of_table});
        if (option.letter != 0) {
            letters += option.letter;
            letters += takes_value ? ":" : "";
        }
    }
    names.insert(names.end(), {{"help", no_argument, nullptr, 'h'},
                               {"version", no_argument, nullptr, version},
                               {"print-library", no_argument, nullptr, print_library},
                               {}});
    int row = 0;
    for (int found = 0; (found = getopt_long(argc, argv, letters.c_str(), names.data(), &row)) != -1;) {
        switch (found) {
        case row_of_table:
            set_variable(options[row]);
            break;
        case 'h':
            std::cout << help_text;
            std::exit(0);
        case version:
            std::cout << "hdtrace-run " HDTRACE_VERSION " for " HDTRACE_MPI_LIBRARY "\n";
            std::exit(0);
        case print_library:
            std::cout << library().string() << '\n';
            std::exit(0);
        case '?':
            usage_error();
        default:
            set_variable_by_letter(found);
        }
    }
    if (optind == argc) {
        usage_error("which program?");
    }
    return optind;
}

// ---- can it be traced? ----

bool is_mpi_library(std::string_view name)
{
    return name.starts_with("libmpi.so") || name.starts_with("libmpich.so") ||
           name.starts_with("libmpi_cray.so") || name.starts_with("libmpi_ibm.so") ||
           name.starts_with("libmpi_gnu");
}

/// An MPI library that the program is linked with, if it is not the one that the tracer is made for.
std::string other_mpi_library(const std::string& program, const hdtrace::ElfFile& elf)
{
    const auto is_ours = [](const std::string& name) { return name == HDTRACE_MPI_LIBRARY; };
    if (std::ranges::any_of(elf.needed, is_ours)) {
        return {};
    }
    const std::vector<std::string> libraries = hdtrace::all_libraries(program, elf.loader);
    const auto other = std::ranges::find_if(libraries, is_mpi_library);
    return other == libraries.end() || std::ranges::any_of(libraries, is_ours) ? "" : *other;
}

/// Why the library cannot be preloaded into the program; empty if it can.
std::string obstacle(const std::string& library, const std::string& program)
{
    if (access(library.c_str(), R_OK) != 0) {
        return "the tracer's library is missing: " + library;
    }
    if (library.find_first_of(" :") != library.npos) {
        return "a library with a blank or a colon in its path cannot be preloaded: " + library;
    }
    const auto elf = hdtrace::read_elf(program);
    if (!elf) {
        return {};
    }
    if (!elf->for_this_machine) {
        return "it is made for another kind of machine than the tracer";
    }
    if (elf->loader.empty()) {
        return "it is linked statically; link it with the tracer instead (pkg-config hdtrace-mpi-static)";
    }
    const std::string other = other_mpi_library(program, *elf);
    return other.empty() ? "" : "it uses " + other + ", but this tracer is made for " HDTRACE_MPI_LIBRARY;
}

/// Behind others: a tool that intercepts MPI_Send calls PMPI_Send, which we intercept, but we cannot know of
/// it.
void preload(const std::string& library)
{
    const char* others = std::getenv("LD_PRELOAD");
    const std::string list = others != nullptr && *others != '\0' ? others + (":" + library) : library;
    setenv("LD_PRELOAD", list.c_str(), 1);
    setenv("HDTRACE_PID", std::to_string(getpid()).c_str(), 1); // the tracer sleeps in all other processes
}

} // namespace

int main(int argc, char** argv)
{
    static char own_name[] = "hdtrace-run"; // for getopt_long()'s messages
    argv[0] = own_name;
    char** command = argv + parse_command_line(argc, argv);
    const std::string program = hdtrace::find_program(command[0]);
    if (!program.empty()) {
        const std::string tracer = library();
        const std::string reason = obstacle(tracer, program);
        if (reason.empty()) {
            preload(tracer);
        } else if (hdtrace::mpi::is_first_rank()) {
            std::cerr << "hdtrace-run: " << command[0] << " runs untraced: " << reason << '\n';
        }
    }
    execvp(command[0], command);
    const int error = errno;
    std::cerr << "hdtrace-run: " << command[0] << ": " << std::strerror(error) << '\n';
    return error == ENOENT ? exit_not_found : exit_not_executable;
}
