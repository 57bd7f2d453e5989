// What functions that read debug information share.
#pragma once

#include "merger/elf_file.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace hdtrace::merger {

/// Files that refer to themselves, or say the same again and again, take no more time than this.
class Steps {
  public:
    /// Throws std::runtime_error.
    void count();

  private:
    std::int64_t m_count = 0;
};

/// An object file, as the program used it.
struct WantedObject {
    std::string path;
    std::string build_id;       ///< which it must have
    std::int64_t used_from = 0; ///< without a build id: it must not have been changed later, in nanoseconds
};

/// An object file with its debug information, which may be in a file of its own.
class UsedObject {
  public:
    /// Nothing but files of this machine is read. Throws std::runtime_error that says why it is of no use.
    UsedObject(const WantedObject& wanted, const std::string& debug_directory);

    const ElfFile& object() const { return m_object; }
    /// The file with the debug information, if there is any; the object file otherwise.
    const ElfFile& informed() const { return m_debug_file ? *m_debug_file : m_object; }

  private:
    ElfFile m_object;
    std::unique_ptr<ElfFile> m_debug_file;
};

/// Calls are in front of their return addresses, which may be those of the next line, or the next function.
Dwarf_Addr address_of_call(std::int64_t return_address);

/// Names are made by programs, too.
std::string shortened(const char* text);
std::string shortened(const std::string& text);

/// Of @p die itself, or of what it completes; empty if there is none.
std::string text_of(Dwarf_Die& die, unsigned int name);
/// Whether @p die itself tells it.
bool has(Dwarf_Die& die, unsigned int name);
/// Of @p die itself, if it is a constant that is not negative.
std::optional<Dwarf_Word> number_of(Dwarf_Die& die, unsigned int name);

} // namespace hdtrace::merger
