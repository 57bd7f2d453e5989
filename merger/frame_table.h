// Where the stack frames of calls are, as the call frame information of an object file tells it.
#pragma once

#include "merger/debug_information.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace hdtrace::merger {

/// The canonical frame address (CFA) is what the register holds plus the offset.
struct FrameRule {
    std::uint64_t register_number = 0;
    std::int64_t offset = 0;
};

/// A reader of our own: libdw (0.188) trusts this information so much that a damaged one could end us.
class FrameTable {
  public:
    /// Nothing is read before it is asked for.
    FrameTable(const UsedObject& object, Steps& steps);
    ~FrameTable();
    FrameTable(const FrameTable&) = delete;
    FrameTable& operator=(const FrameTable&) = delete;

    /// Nothing if it is not known, or more than a register and an offset. Throws what Steps throw.
    std::optional<FrameRule> rule_at(Dwarf_Addr address);

  private:
    class Section;
    void read(const ElfFile& file, const char* name, bool is_of_exceptions);

    const UsedObject& m_object;
    Steps& m_steps;
    bool m_is_read = false;
    std::vector<std::unique_ptr<Section>> m_sections;
};

} // namespace hdtrace::merger
