#include "merger/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace hdtrace::merger {

namespace fs = std::filesystem;

namespace {

/// Of a FIFO that is no regular file, opening must not wait.
int open_file(const std::string& path)
{
    const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        throw std::runtime_error(std::strerror(errno));
    return file;
}

/// libdw (0.188) reads beyond the last string if it has no end.
bool strings_end(Elf* elf)
{
    std::size_t names = 0;
    elf_getshdrstrndx(elf, &names);
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        const char* const name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : nullptr;
        const bool holds_strings =
            name && (std::strcmp(name, ".debug_str") == 0 || std::strcmp(name, ".debug_line_str") == 0);
        if (!holds_strings || header.sh_type == SHT_NOBITS || (header.sh_flags & SHF_COMPRESSED) != 0)
            continue;
        const Elf_Data* const data = elf_rawdata(section, nullptr);
        if (data && data->d_size > 0 && static_cast<const char*>(data->d_buf)[data->d_size - 1] != '\0')
            return false;
    }
    return true;
}

bool has_units(Dwarf* dwarf)
{
    Dwarf_CU* unit = nullptr;
    return dwarf_get_units(dwarf, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) == 0;
}

/// Names beside the object: a path would lead elsewhere.
std::string debug_link(const ElfFile& object)
{
    GElf_Word ignored = 0;
    const char* const name = dwelf_elf_gnu_debuglink(object.elf(), &ignored);
    return name && *name != '\0' && !std::strchr(name, '/') ? name : "";
}

std::vector<fs::path> candidates(const ElfFile& object, const std::string& build_id, const fs::path& path,
                                 const fs::path& debug_directory)
{
    std::vector<fs::path> paths = {debug_directory / ".build-id" / build_id.substr(0, 2) /
                                   (build_id.substr(2) + ".debug")};
    if (const std::string name = debug_link(object); !name.empty()) {
        const fs::path folder = path.parent_path();
        paths.push_back(folder / name);
        paths.push_back(folder / ".debug" / name);
        paths.push_back(debug_directory / folder.relative_path() / name);
    }
    return paths;
}

} // namespace

ElfFile::ElfFile(const std::string& path) : m_file(open_file(path))
{
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    struct stat status;
    const bool is_regular = fstat(m_file, &status) == 0 && S_ISREG(status.st_mode);
    if (is_regular) {
        m_changed = status.st_mtim.tv_sec * nanoseconds + status.st_mtim.tv_nsec;
        elf_version(EV_CURRENT);
        // Not mapped into memory, where a file that is made shorter meanwhile would end us.
        m_elf.reset(elf_begin(m_file, ELF_C_READ, nullptr));
    }
    if (!m_elf || elf_kind(m_elf.get()) != ELF_K_ELF) {
        m_elf.reset();
        close(m_file);
        throw std::runtime_error(is_regular ? "this is no object file" : "this is not a regular file");
    }
    if (strings_end(m_elf.get()))
        m_dwarf.reset(dwarf_begin_elf(m_elf.get(), DWARF_C_READ, nullptr));
    if (m_dwarf && !has_units(m_dwarf.get()))
        m_dwarf.reset();
}

ElfFile::~ElfFile()
{
    m_dwarf.reset();
    m_elf.reset();
    close(m_file);
}

std::string ElfFile::build_id() const
{
    const void* bytes = nullptr;
    const ssize_t size = dwelf_elf_gnu_build_id(m_elf.get(), &bytes);
    std::string text;
    for (ssize_t i = 0; i < size; ++i) {
        constexpr char digits[] = "0123456789abcdef";
        const unsigned char byte = static_cast<const unsigned char*>(bytes)[i];
        text += {digits[byte >> 4], digits[byte & 15]};
    }
    return text;
}

std::unique_ptr<ElfFile> find_debug_file(const ElfFile& object, const std::string& path,
                                         const std::string& debug_directory)
{
    const std::string build_id = object.build_id();
    if (build_id.empty())
        return nullptr;
    for (const fs::path& candidate : candidates(object, build_id, path, debug_directory)) {
        try {
            auto file = std::make_unique<ElfFile>(candidate);
            if (file->dwarf() && file->build_id() == build_id)
                return file;
        } catch (const std::runtime_error&) {
            continue; // mostly because there is none
        }
    }
    return nullptr;
}

} // namespace hdtrace::merger
