// hdtrace-run: runs a program with the tracer preloaded into it, between mpirun and the program.
//
// A compiled program and not a script, because shells do not hand on the environment as it was (dash drops
// exported functions and every name that is not its own, bash changes PWD and SHLVL).

#include "hdtrace/settings/environment.h"
#include "hdtrace/settings/settings.h"
#include "mpiwrapper/launcher/explain.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/launcher/program_file.h"
#include "mpiwrapper/launcher/settings_file.h"
#include "mpiwrapper/launcher/tracer_files.h"

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
    unsetenv(hdtrace::options_variable); // of another hdtrace-run before
    if (values_of_options.empty()) {
        return;
    }
    std::string names;
    for (const auto& [variable, ignored] : values_of_options) {
        names += variable + ' ';
    }
    setenv(hdtrace::options_variable, names.c_str(), 1);
}

std::string joined(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

/// The exit code: whoever asked for the text has it, or is told.
int print(const std::string& text)
{
    errno = 0;
    if (std::cout << text << std::flush) {
        return 0;
    }
    std::cerr << "hdtrace-run: standard output: " << std::strerror(errno) << '\n';
    return 1;
}

std::string version_text()
{
    return "hdtrace-run " HDTRACE_VERSION " for " + joined(hdtrace::traceable_libraries()) + '\n';
}

struct CommandLine {
    char** program = nullptr; ///< and its arguments; points to null if there is none
    bool prints_library = false;
    bool is_to_explain = false;
    bool prefers_compact = false;
    bool prefers_apart = false;
    std::string first_folders; ///< to look for the program in; empty: none
};

/// Sets the environment from the options.
CommandLine parse_command_line(int argc, char** argv)
{
    enum { row_of_table, version = CHAR_MAX + 1, print_library, explain, prefer_compact, prefer_apart, path };
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
                               {"explain", no_argument, nullptr, explain},
                               {"print-library", no_argument, nullptr, print_library},
                               {"prefer-compact", no_argument, nullptr, prefer_compact},
                               {"prefer-apart", no_argument, nullptr, prefer_apart},
                               {"path", required_argument, nullptr, path},
                               {}});
    CommandLine result;
    int row = 0;
    for (int found = 0; (found = getopt_long(argc, argv, letters.c_str(), names.data(), &row)) != -1;) {
        switch (found) {
        case row_of_table:
            set_variable(arguments[row]);
            break;
        case 'h':
            std::exit(print(help_text));
        case version:
            std::exit(print(version_text()));
        case print_library:
            result.prints_library = true;
            break;
        case explain:
            result.is_to_explain = true;
            break;
        case prefer_compact:
            result.prefers_compact = true;
            break;
        case prefer_apart:
            result.prefers_apart = true;
            break;
        case path:
            result.first_folders = optarg;
            break;
        case '?':
            usage_error();
        default:
            set_variable(*std::ranges::find(arguments, found, &Argument::letter));
        }
    }
    if (optind == argc && !result.prints_library && !result.is_to_explain) {
        usage_error("which program?");
    }
    if (result.is_to_explain && result.prints_library) {
        usage_error("--explain and --print-library exclude each other");
    }
    result.program = argv + optind;
    return result;
}

// ---- the environment ----

/// The file that the command line or the environment names. Ends the program if something is wrong with it.
const hdtrace::SettingsFile& settings_file()
{
    static const hdtrace::SettingsFile no_file;
    const char* const path = std::getenv(hdtrace::config_variable);
    if (path == nullptr || *path == '\0') {
        return no_file;
    }
    static const hdtrace::SettingsFile file(path);
    for (const std::string& problem : file.problems()) {
        if (hdtrace::mpi::is_first_rank()) {
            std::cerr << "hdtrace-run: " << problem << '\n';
        }
    }
    if (!file.problems().empty()) {
        std::exit(exit_usage);
    }
    return file;
}

/// What holds: the file, and above it the environment, which the options are in.
hdtrace::Settings settings_in_force()
{
    hdtrace::Settings settings = settings_file().settings();
    for (const hdtrace::Option& option : hdtrace::options()) {
        hdtrace::set_from_environment(settings, option);
    }
    return settings;
}

void say_wrong(const hdtrace::WrongVariable& variable)
{
    std::cerr << "hdtrace-run: " << std::string_view(variable.name.text, variable.name.length) << "='"
              << variable.value << "' is ignored: ";
    if (variable.expected != nullptr) {
        std::cerr << "expected " << variable.expected;
    } else {
        std::cerr << "there is no such setting";
    }
    if (variable.nearest != nullptr) {
        std::cerr << "; did you mean " << variable.nearest << '?';
    }
    std::cerr << '\n';
}

/// Wrong values count as not set.
void refuse_wrong_variables()
{
    if (hdtrace::mpi::is_first_rank()) {
        hdtrace::find_wrong_variables(say_wrong);
    }
    for (const hdtrace::Option& option : hdtrace::options()) {
        if (hdtrace::wrong_value_in_environment(option) != nullptr) {
            unsetenv(option.variable);
        }
    }
}

/// Statistics alone have no single calls.
void refuse_what_statistics_cannot()
{
    const hdtrace::Settings settings = settings_in_force();
    for (const hdtrace::Option& option : hdtrace::options()) {
        if (settings.statistics_only && option.is_about_single_calls &&
            hdtrace::is_changed(settings, option)) {
            usage_error(std::string("--statistics-only keeps no single calls, and --") + option.name +
                        " is about them");
        }
    }
}

/// Whoever asks for both would get a trace that is not compressed. Of what the environment asks for the
/// tracer tells.
void refuse_to_compress_records_as_text()
{
    const hdtrace::Settings settings = settings_in_force();
    const bool is_asked_for =
        values_of_options.contains("HDTRACE_FORM") || values_of_options.contains("HDTRACE_COMPRESS");
    if (is_asked_for && settings.form == hdtrace::Form::compact &&
        settings.compress == hdtrace::Compress::gzip) {
        usage_error("--form compact and --compress gzip exclude each other: only zstd compresses records");
    }
}

Argument argument_called(const char* name)
{
    const std::vector<Argument> arguments = all_arguments();
    return *std::ranges::find(arguments, name, &Argument::name);
}

void choose(Argument argument, const char* value)
{
    argument.fixed_value = value;
    set_variable(argument);
}

/// Where nothing else was chosen.
void choose_compact()
{
    const hdtrace::Settings settings = settings_in_force();
    if (settings.form == hdtrace::Form::automatic && settings.compress != hdtrace::Compress::gzip) {
        choose(argument_called("form"), name_of(hdtrace::Form::compact));
    }
}

/// Scripts may start several runs, one after the other. Where nothing else was chosen.
void choose_apart()
{
    const Argument apart = argument_called("runs-apart");
    const bool is_chosen =
        std::getenv(apart.option->variable) != nullptr || settings_file().sets(*apart.option);
    if (settings_in_force().follow && !is_chosen) {
        choose(apart, "1");
    }
}

/// The program may be a script that goes elsewhere.
void fix_config_path()
{
    if (!settings_file().path().empty()) {
        setenv(hdtrace::config_variable, std::filesystem::absolute(settings_file().path()).c_str(), 1);
    }
}

/// What Open MPI has started it tells programs by these variables (MPI_INFO_ENV): where that is this one, it
/// would have been the program.
void tell_command(const char* own_path, char** command)
{
    const auto name_in = [](const char* path) { return std::filesystem::path(path).filename().string(); };
    const char* const started = std::getenv("OMPI_COMMAND");
    if (started == nullptr || started != name_in(own_path)) {
        return;
    }
    setenv("OMPI_COMMAND", name_in(command[0]).c_str(), 1);
    std::string arguments;
    for (char** argument = command + 1; *argument != nullptr; ++argument) {
        arguments += std::string(" ") + *argument;
    }
    if (arguments.empty()) {
        unsetenv("OMPI_ARGV");
    } else {
        setenv("OMPI_ARGV", arguments.c_str() + 1, 1);
    }
}

// ---- which program? ----

/// What is run.
struct Program {
    std::string file;     ///< empty if there is none
    std::string executed; ///< what execvp() is given
};

/// What the launcher would run for this name, if the tracer did not stand before it.
Program find_as_launcher(const std::string& name, const std::string& first_folders)
{
    if (name.find('/') != name.npos) {
        return {hdtrace::find_program(name), name};
    }
    if (std::string file = first_folders.empty() ? "" : hdtrace::find_in(first_folders, name);
        !file.empty()) {
        return {file, file};
    }
    if (std::string file = hdtrace::find_program(name); !file.empty()) {
        return {file, name};
    }
    std::error_code failed;
    const std::string here = std::filesystem::absolute(name, failed);
    const bool is_here =
        hdtrace::mpi::launcher_looks_in_working_directory() && !failed && hdtrace::is_program(here);
    return is_here ? Program{here, here} : Program{{}, name};
}

// ---- can it be traced? ----

/// What is preloaded into a program, or why nothing can be.
struct Tracer {
    std::string library;
    std::string obstacle;
};

std::string no_wrapper_for(const std::string& library)
{
    const std::string others = joined(hdtrace::traceable_libraries());
    return "it uses " + library + ", which has no wrapper here (" +
           (others.empty() ? "no library has one" : "only " + others) +
           "); cmake -DHDTRACE_MPI_COMPILERS=COMPILER builds one, with the MPI compiler of that library";
}

/// The wrapper for the MPI library that the program is linked with, directly or by its libraries. If it is
/// linked with none, it may still load one.
Tracer tracer_for(const std::string& program, const hdtrace::ElfFile& elf,
                  const std::vector<std::string>& loader)
{
    for (const std::string& name : elf.needed) {
        if (std::string wrapper = hdtrace::wrapper_for(name); !wrapper.empty()) {
            return {wrapper, {}};
        }
    }
    for (const hdtrace::LoadedLibrary& library : hdtrace::all_libraries(program, loader)) {
        if (std::string wrapper = hdtrace::wrapper_for(library.name); !wrapper.empty()) {
            return {wrapper, {}};
        }
        if (!hdtrace::is_mpi_library(library.name)) {
            continue;
        }
        const auto file = hdtrace::read_elf(library.file); // the name may be a link to another one
        if (std::string wrapper = file ? hdtrace::wrapper_for(file->soname) : ""; !wrapper.empty()) {
            return {wrapper, {}};
        }
        return {{}, no_wrapper_for(library.name)};
    }
    return {hdtrace::wrapper_for_any(), {}};
}

/// The user runs the dynamic loader, whose options may tell where libraries are.
Tracer tracer_behind_loader(const std::string& loader, char** command)
{
    char** const named = hdtrace::program_for_loader(command + 1);
    const auto elf = *named != nullptr ? hdtrace::read_elf(*named) : std::nullopt;
    if (!elf) { // the loader may look for it, or says what is wrong
        return {hdtrace::wrapper_for_any(), {}};
    }
    std::vector<std::string> with_options(command, named);
    with_options[0] = loader;
    return tracer_for(*named, *elf, with_options);
}

/// What starts the processes of MPI programs; it is none itself.
bool starts_mpi_programs(const std::string& program)
{
    static constexpr std::string_view names[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun"};
    const std::string name = std::filesystem::path(program).stem(); // mpirun.openmpi, mpiexec.hydra
    return std::ranges::find(names, name) != std::end(names);
}

/// In whose programs it is fatal that a library cannot be loaded.
bool has_other_c_library(const hdtrace::ElfFile& elf)
{
    const std::string loader = std::filesystem::path(elf.loader).filename();
    return loader.starts_with("ld-musl") || loader.starts_with("ld-uClibc");
}

Tracer choose_tracer(const std::string& program, char** command)
{
    const bool follows = settings_in_force().follow;
    if (starts_mpi_programs(program) && !follows) {
        return {{},
                "it starts the processes, so hdtrace-run belongs behind it, as in mpirun -n 4 hdtrace-run "
                "./app; or use hdtrace "
                "record, or --follow"};
    }
    const auto elf = hdtrace::read_elf(program);
    const bool is_script = !elf && access(program.c_str(), R_OK) == 0; // the bits of its interpreter count
    if (!is_script && hdtrace::gains_rights(program)) {
        return {{},
                "it runs with rights that are not yours (set-uid, set-gid or capabilities); nothing can be "
                "preloaded into such "
                "programs"};
    }
    if (!elf) {
        return {hdtrace::wrapper_for_any(), {}};
    }
    if (!elf->for_this_machine) {
        return {{}, "it is made for another kind of machine than the tracer"};
    }
    if (has_other_c_library(*elf)) {
        return {{}, "it is linked with another C library than glibc, which cannot load the tracer"};
    }
    if (follows) { // one that is linked statically starts others, too
        return {hdtrace::wrapper_for_any(), {}};
    }
    if (hdtrace::is_loader(*elf)) {
        return tracer_behind_loader(program, command);
    }
    if (elf->loader.empty()) {
        return {{},
                "it is linked statically; link it with the tracer instead (pkg-config hdtrace-mpi-static)"};
    }
    return tracer_for(program, *elf, {elf->loader});
}

/// What can be preloaded into the program that @p command runs.
Tracer usable_tracer(const std::string& program, char** command)
{
    Tracer tracer = choose_tracer(program, command);
    if (!tracer.obstacle.empty()) {
        return tracer;
    }
    if (access(tracer.library.c_str(), R_OK) != 0) {
        tracer.obstacle = "the tracer's library is missing: " + tracer.library;
    } else if (tracer.library.find_first_of(" :") != std::string::npos) {
        tracer.obstacle =
            "a library with a blank or a colon in its path cannot be preloaded: " + tracer.library;
    }
    return tracer;
}

/// Behind others: a tool that intercepts MPI_Send calls PMPI_Send, which we intercept, but we cannot know of
/// it.
void preload(const std::string& library)
{
    const char* others = std::getenv("LD_PRELOAD");
    const std::string list = others != nullptr && *others != '\0' ? others + (":" + library) : library;
    setenv("LD_PRELOAD", list.c_str(), 1);
    setenv(hdtrace::process_variable, std::to_string(getpid()).c_str(),
           1); // the tracer sleeps in all other processes
}

/// AddressSanitizer, as a shared library (gcc's default), ends programs in which another library comes before
/// it. That is for what it intercepts, of which the tracer only replaces what goes on to it.
/// What a script or the dynamic loader starts, or a program that is followed, may be such a program.
void let_sanitizer_come_later(const std::string& program)
{
    const auto elf = hdtrace::read_elf(program);
    const auto is_sanitizer = [](const std::string& name) {
        return name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan");
    };
    if (elf && !hdtrace::is_loader(*elf) && !settings_in_force().follow &&
        std::ranges::none_of(elf->needed, is_sanitizer)) {
        return;
    }
    const char* const others = std::getenv("ASAN_OPTIONS");
    const std::string option = "verify_asan_link_order=0";
    setenv("ASAN_OPTIONS", (others != nullptr && *others != '\0' ? option + ":" + others : option).c_str(),
           1);
}

int print_library(char** command, const std::string& first_folders)
{
    const char* const name = command[0];
    if (name == nullptr) {
        return print(hdtrace::wrapper_for_any() + '\n');
    }
    const std::string program = find_as_launcher(name, first_folders).file;
    if (program.empty()) {
        std::cerr << "hdtrace-run: " << name << ": there is no such program\n";
        return 1;
    }
    const Tracer tracer = usable_tracer(program, command);
    if (!tracer.obstacle.empty()) {
        std::cerr << "hdtrace-run: " << name << " cannot be traced: " << tracer.obstacle << '\n';
        return 1;
    }
    return print(tracer.library + '\n');
}

} // namespace

int main(int argc, char** argv)
{
    const char* const own_path = argv[0];
    static char own_name[] = "hdtrace-run"; // for getopt_long()'s messages
    argv[0] = own_name;
    const CommandLine command_line = parse_command_line(argc, argv);
    char** const command = command_line.program;
    refuse_wrong_variables();
    refuse_what_statistics_cannot();
    refuse_to_compress_records_as_text();
    if (command_line.prefers_compact) {
        choose_compact();
    }
    if (command_line.prefers_apart) {
        choose_apart();
    }
    if (command_line.prints_library) {
        return print_library(command, command_line.first_folders);
    }
    if (command_line.is_to_explain) {
        return print(hdtrace::explain(settings_file(), settings_in_force().all_functions));
    }
    fix_config_path();
    tell_options();
    tell_command(own_path, command);
    const Program program = find_as_launcher(command[0], command_line.first_folders);
    if (!program.file.empty()) {
        const Tracer tracer = usable_tracer(program.file, command);
        if (tracer.obstacle.empty()) {
            preload(tracer.library);
            let_sanitizer_come_later(program.file);
        } else if (hdtrace::mpi::is_first_rank()) {
            std::cerr << "hdtrace-run: " << command[0] << " runs untraced: " << tracer.obstacle << '\n';
        }
    }
    execvp(program.executed.c_str(), command);
    const int error = errno;
    std::cerr << "hdtrace-run: " << command[0] << ": " << std::strerror(error) << '\n';
    return error == ENOENT ? exit_not_found : exit_not_executable;
}
