// hdtrace-run: runs a program with the tracer preloaded into it, between mpirun and the program.
//
// A compiled program and not a script, because shells do not hand on the environment as it was (dash drops
// exported functions and every name that is not its own, bash changes PWD and SHLVL).

#include "hdtrace/settings/settings.h"
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
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

#include "help.inc"

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

/// An argument that sets an option.
struct Argument {
    std::string name;
    char letter; // 0: none
    const hdtrace::Option* option;
    const char* fixed_value; // nullptr: the argument has a value of its own
};

std::vector<Argument> all_arguments()
{
    std::vector<Argument> arguments;
    for (const hdtrace::Option& option : hdtrace::options()) {
        const bool is_flag = option.type == hdtrace::Option::Type::flag;
        arguments.push_back({option.name, option.letter, &option, is_flag ? "1" : nullptr});
        if (is_flag)
            arguments.push_back({std::string("no-") + option.name, 0, &option, "0"});
    }
    return arguments;
}

/// What options have set, by variable.
std::map<std::string, std::string> values_of_options;

/// The program's process finds the value in its environment.
void set_variable(const Argument& argument)
{
    const char* const value = argument.fixed_value != nullptr ? argument.fixed_value : optarg;
    hdtrace::Settings unused;
    if (!hdtrace::set(unused, *argument.option, value)) {
        usage_error("--" + argument.name + ": '" + value + "' is not " + argument.option->expected);
    }
    std::string& kept = values_of_options[argument.option->variable];
    if (argument.option->type == hdtrace::Option::Type::notes && !kept.empty()) {
        kept += '\n';
    } else {
        kept.clear();
    }
    kept += value;
    setenv(argument.option->variable, kept.c_str(), 1);
}

/// So that the run can tell where its settings came from.
void tell_options()
{
    unsetenv(hdtrace::mpi::options_variable); // of another hdtrace-run before
    if (values_of_options.empty()) {
        return;
    }
    std::string names;
    for (const auto& [variable, ignored] : values_of_options) {
        names += variable + ' ';
    }
    setenv(hdtrace::mpi::options_variable, names.c_str(), 1);
}

std::filesystem::path library()
{
    const auto directory = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return (directory / HDTRACE_LIBRARY_FROM_HERE).lexically_normal();
}

/// Sets the environment from the options; returns the index of the program's name.
int parse_command_line(int argc, char** argv)
{
    enum { row_of_table, version = CHAR_MAX + 1, print_library };
    const std::vector<Argument> arguments = all_arguments();
    std::string letters = "+h";
    std::vector<option> names;
    for (const Argument& argument : arguments) {
        const bool takes_value = argument.fixed_value == nullptr;
        names.push_back(
            {argument.name.c_str(), takes_value ? required_argument : no_argument, nullptr, row_of_table});
        if (argument.letter != 0) {
            letters += argument.letter;
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
            set_variable(arguments[row]);
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
            set_variable(*std::ranges::find(arguments, found, &Argument::letter));
        }
    }
    if (optind == argc) {
        usage_error("which program?");
    }
    return optind;
}

// ---- the environment ----

hdtrace::Settings settings_in_environment()
{
    hdtrace::Settings settings;
    for (const hdtrace::Option& option : hdtrace::options()) {
        hdtrace::set_from_environment(settings, option);
    }
    return settings;
}

/// Wrong values count as not set; they are taken away, so that nobody complains of them again.
void refuse_wrong_variables()
{
    constexpr int warnings = 1;
    const bool is_said = settings_in_environment().verbosity >= warnings;
    for (const hdtrace::Option& option : hdtrace::options()) {
        const char* const value = hdtrace::wrong_value_in_environment(option);
        if (value == nullptr) {
            continue;
        }
        if (is_said) {
            std::cerr << "hdtrace-run: " << option.variable << "='" << value << "' is ignored: expected "
                      << option.expected << '\n';
        }
        unsetenv(option.variable);
    }
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

/// What starts the processes of MPI programs; it is none itself.
bool starts_mpi_programs(const std::string& program)
{
    static constexpr std::string_view names[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun"};
    const std::string name = std::filesystem::path(program).stem(); // mpirun.openmpi, mpiexec.hydra
    return std::ranges::find(names, name) != std::end(names);
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
    if (starts_mpi_programs(program) && !settings_in_environment().follow) {
        return "it starts the processes, so hdtrace-run belongs behind it, as in mpirun -n 4 hdtrace-run "
               "./app; "
               "or use hdtrace record, or --follow";
    }
    const auto elf = hdtrace::read_elf(program);
    const bool is_script = !elf && access(program.c_str(), R_OK) == 0; // the bits of its interpreter count
    if (!is_script && hdtrace::gains_rights(program)) {
        return "it runs with rights that are not yours (set-uid, set-gid or capabilities); nothing can be "
               "preloaded into such programs";
    }
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
    refuse_wrong_variables();
    tell_options();
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
