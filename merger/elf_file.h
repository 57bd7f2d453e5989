// An object file and what was put apart from it.
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace hdtrace::merger {

class ElfFile {
  public:
    /// Opens regular files only. Throws std::runtime_error that says why it cannot be read.
    explicit ElfFile(const std::string& path);
    ~ElfFile();
    ElfFile(const ElfFile&) = delete;
    ElfFile& operator=(const ElfFile&) = delete;

    Elf* elf() const { return m_elf.get(); }
    /// Null if it has no debug information about functions.
    Dwarf* dwarf() const { return m_dwarf.get(); }
    /// Hexadecimal; empty if it has none.
    std::string build_id() const;
    /// When it was changed last, in nanoseconds since the epoch.
    std::int64_t changed() const { return m_changed; }

  private:
    struct End {
        void operator()(Elf* elf) const { elf_end(elf); }
        void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
    };

    int m_file;
    std::int64_t m_changed = 0;
    std::unique_ptr<Elf, End> m_elf;
    std::unique_ptr<Dwarf, End> m_dwarf;
};

/// The file with the debug information that was taken out of @p object, which is at @p path: by its build id
/// in `.build-id` in @p debug_directory, or by the name that the object has for it, beside it, in `.debug`
/// there, or in the same folder in @p debug_directory. Null if there is none with the same build id.
std::unique_ptr<ElfFile> find_debug_file(const ElfFile& object, const std::string& path,
                                         const std::string& debug_directory);

} // namespace hdtrace::merger
