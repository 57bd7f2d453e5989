// What can be told about a program before it runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hdtrace {

/// Whether it can be executed, as far as its rights tell.
bool is_program(const std::string& file);

/// The first program of that name in folders between colons, as in PATH; empty if there is none.
std::string find_in(const std::string& folders, const std::string& name);

/// The file that execvp() would run for @p name; empty if there is none.
std::string find_program(const std::string& name);

/// Whether it has rights that we have not when it runs (set-uid, set-gid, capabilities). The dynamic loader
/// preloads nothing into such programs.
bool gains_rights(const std::string& file);

/// An ELF file, which is what the dynamic loader can preload libraries into.
struct ElfFile {
    bool for_this_machine = false;
    std::string loader;              ///< the dynamic loader that it asks for; empty: it is linked statically
    std::vector<std::string> needed; ///< the libraries that it names itself
    std::string soname;              ///< of a library: by which programs that were linked with it ask for it
};

/// Nothing if the file is no ELF file (a script) or cannot be read.
std::optional<ElfFile> read_elf(const std::string& file);

/// Whether it is a dynamic loader as our own, which runs a program that it is told (ld-linux-x86-64.so.2
/// ./app).
bool is_loader(const ElfFile& elf);

/// Of the arguments of the dynamic loader the one that is the program; else the null behind them.
char** program_for_loader(char** arguments);

/// A library that a program would be run with.
struct LoadedLibrary {
    std::string name; ///< by which it is asked for
    std::string file; ///< what the loader finds; empty if it finds none
};

/// All that @p loader, with its options, would load for @p file, which does not run, in the order in which
/// functions are looked for. Empty if it cannot tell. Takes some milliseconds.
std::vector<LoadedLibrary> all_libraries(const std::string& file, const std::vector<std::string>& loader);

} // namespace hdtrace
