// The types of variables, as debug information has them.
#pragma once

#include "merger/debug_information.h"
#include "merger/variable_contents.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace hdtrace::merger {

/// What is not known is empty or 0.
struct SourceType {
    std::int64_t size = 0; ///< in bytes; of what has no fixed one 0
    std::string text;      ///< for people, like C
    Contents contents;
    bool is_pointer = false; ///< then the contents are those of what it points to
};

/// The members of structs, by the language and the place of their description; nothing if they are not known.
using KnownStructs = std::map<std::pair<int, const void*>, std::optional<Members>>;

/// Reads those of one object file. Its functions throw what Steps throw.
class SourceTypes {
  public:
    explicit SourceTypes(Steps& steps) : m_steps(steps) {}

    /// Of the variable, or the value, that @p die describes.
    SourceType type_of(Dwarf_Die& die);
    /// Pointers get the contents of what they point to, if that is known.
    SourceType followed_type_of(Dwarf_Die& die);
    /// Of a variable of which just the address is at its place: a pointer to it.
    SourceType type_of_address(Dwarf_Die& die);

  private:
    Steps& m_steps;
    KnownStructs m_structs;
};

} // namespace hdtrace::merger
