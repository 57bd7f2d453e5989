#include "mpiwrapper/launcher/program_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <link.h>
#include <spawn.h>
#include <sstream>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace hdtrace {

namespace {

template <typename T> bool read_at(std::ifstream& file, std::uint64_t offset, T& value)
{
    return file.seekg(static_cast<std::streamoff>(offset))
        .read(reinterpret_cast<char*>(&value), sizeof value)
        .good();
}

std::optional<ElfW(Ehdr)> read_elf_header(std::ifstream& file)
{
    ElfW(Ehdr) header{};
    const bool is_elf = read_at(file, 0, header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    return is_elf ? std::optional(header) : std::nullopt;
}

using Segments = std::vector<ElfW(Phdr)>;

Segments read_segments(std::ifstream& file, const ElfW(Ehdr) & header)
{
    Segments segments(header.e_phnum);
    for (std::size_t i = 0; i < segments.size(); ++i) {
        read_at(file, header.e_phoff + i * header.e_phentsize, segments[i]);
    }
    return segments;
}

std::string read_string(std::ifstream& file, std::uint64_t offset)
{
    std::string text;
    std::getline(file.seekg(static_cast<std::streamoff>(offset)), text, '\0');
    return text;
}

std::string read_loader(std::ifstream& file, const Segments& segments)
{
    const auto found = std::ranges::find(segments, ElfW(Word){PT_INTERP}, &ElfW(Phdr)::p_type);
    return found != segments.end() ? read_string(file, found->p_offset) : "";
}

/// Where in the file that stands which the loaded program has at an address.
std::uint64_t offset_of(ElfW(Addr) address, const Segments& segments)
{
    for (const ElfW(Phdr) & segment : segments) {
        if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz) {
            return segment.p_offset + (address - segment.p_vaddr);
        }
    }
    return UINT64_MAX;
}

/// What the file names: libraries that it needs, and itself.
void read_names(std::ifstream& file, const Segments& segments, ElfFile& result)
{
    const auto dynamic = std::ranges::find(segments, ElfW(Word){PT_DYNAMIC}, &ElfW(Phdr)::p_type);
    if (dynamic == segments.end()) {
        return;
    }
    std::vector<std::uint64_t> needed;
    std::optional<std::uint64_t> soname;
    std::uint64_t names = UINT64_MAX;
    ElfW(Dyn) entry{};
    for (std::uint64_t at = 0;
         at < dynamic->p_filesz && read_at(file, dynamic->p_offset + at, entry) && entry.d_tag != DT_NULL;
         at += sizeof entry) {
        if (entry.d_tag == DT_NEEDED) {
            needed.push_back(entry.d_un.d_val);
        } else if (entry.d_tag == DT_SONAME) {
            soname = entry.d_un.d_val;
        } else if (entry.d_tag == DT_STRTAB) {
            names = offset_of(entry.d_un.d_ptr, segments);
        }
    }
    for (const std::uint64_t place : needed) {
        result.needed.push_back(read_string(file, names + place));
    }
    if (soname) {
        result.soname = read_string(file, names + *soname);
    }
}

/// What the command writes to standard output; its errors are not shown.
std::string output_of(std::vector<const char*> command)
{
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return {};
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    command.push_back(nullptr);
    pid_t child = -1;
    const int failed =
        posix_spawn(&child, command[0], &actions, nullptr, const_cast<char**>(command.data()), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);

    std::string output;
    std::array<char, 4096> block{};
    for (ssize_t size = 0; (size = read(ends[0], block.data(), block.size())) > 0;) {
        output.append(block.data(), static_cast<std::size_t>(size));
    }
    close(ends[0]);
    if (failed == 0) {
        waitpid(child, nullptr, 0);
    }
    return output;
}

} // namespace

bool is_program(const std::string& file)
{
    std::error_code ignored;
    return access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, ignored);
}

std::string find_in(const std::string& folders, const std::string& name)
{
    // An empty one at the end counts, too: getline() finds it only with its own end.
    std::istringstream directories(folders + ':');
    for (std::string directory; std::getline(directories, directory, ':');) {
        const std::string file = (directory.empty() ? "." : directory) + "/" + name;
        if (is_program(file)) {
            return file;
        }
    }
    return {};
}

std::string find_program(const std::string& name)
{
    if (name.find('/') != name.npos) {
        return is_program(name) ? name : "";
    }
    const char* path = std::getenv("PATH");
    return find_in(path != nullptr ? path : "/bin:/usr/bin", name);
}

bool gains_rights(const std::string& file)
{
    struct stat status = {};
    struct statvfs system = {};
    if (stat(file.c_str(), &status) != 0 || statvfs(file.c_str(), &system) != 0 ||
        (system.f_flag & ST_NOSUID) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
        return false;
    }
    constexpr mode_t set_gid = S_ISGID | S_IXGRP; // without the second it means something else
    const bool is_other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != getuid();
    const bool is_other_group = (status.st_mode & set_gid) == set_gid && status.st_gid != getgid();
    const bool has_capabilities =
        getuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
    return is_other_user || is_other_group || has_capabilities;
}

std::optional<ElfFile> read_elf(const std::string& name)
{
    std::ifstream file(name, std::ios::binary);
    const auto header = read_elf_header(file);
    if (!header) {
        return {};
    }
    std::ifstream own_file("/proc/self/exe", std::ios::binary);
    const auto own = read_elf_header(own_file);
    ElfFile result;
    result.for_this_machine =
        own && own->e_machine == header->e_machine && own->e_ident[EI_CLASS] == header->e_ident[EI_CLASS];
    if (result.for_this_machine) {
        const Segments segments = read_segments(file, *header);
        result.loader = read_loader(file, segments);
        read_names(file, segments, result);
    }
    return result;
}

bool is_loader(const ElfFile& elf)
{
    const auto own = read_elf("/proc/self/exe");
    return own && !own->loader.empty() && std::filesystem::path(own->loader).filename() == elf.soname;
}

char** program_for_loader(char** arguments)
{
    static constexpr std::string_view with_value[] = {"--library-path",
                                                      "--glibc-hwcaps-prepend",
                                                      "--glibc-hwcaps-mask",
                                                      "--inhibit-rpath",
                                                      "--audit",
                                                      "--preload",
                                                      "--argv0"};
    for (; *arguments != nullptr; ++arguments) {
        const std::string_view argument = *arguments;
        if (!argument.starts_with("--"))
            return arguments;
        if (std::ranges::find(with_value, argument) != std::end(with_value) && arguments[1] != nullptr)
            ++arguments;
    }
    return arguments;
}

std::vector<LoadedLibrary> all_libraries(const std::string& file, const std::vector<std::string>& loader)
{
    std::vector<const char*> command = {loader[0].c_str(), "--list"};
    std::transform(loader.begin() + 1, loader.end(), std::back_inserter(command),
                   std::mem_fn(&std::string::c_str));
    command.push_back(file.c_str());
    std::istringstream lines(output_of(command));
    std::vector<LoadedLibrary> libraries;
    for (std::string line; std::getline(lines, line);) { // "\tlibm.so.6 => /lib/libm.so.6 (0x...)"
        std::istringstream words(line);
        LoadedLibrary library;
        std::string arrow;
        if (words >> library.name >> arrow && arrow == "=>" && !(words >> library.file)) {
            library.file.clear();
        }
        if (!library.name.empty()) {
            libraries.push_back(library);
        }
    }
    return libraries;
}

} // namespace hdtrace
