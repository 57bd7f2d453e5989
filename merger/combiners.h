// How each MPI combiner's contents (MPI 4.0, 5.1.13) stand in a project: one row per combiner.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::merger {

enum class Array { integers, addresses, types };

/// Position `start + repeats * factor` in one of the arrays that MPI_Type_get_contents gives; the k-th child
/// element takes the k-th value from there.
struct Position {
    Array array;
    std::size_t start;
    std::size_t factor = 0;
};

struct ContentAttribute {
    std::string_view name;
    Position position;
};

struct Combiner {
    static constexpr int no_repeat = -1;

    std::string_view name; ///< without MPI_COMBINER_; the name of the element
    int repeat_at;         ///< position in the integers of the number of child elements
    std::vector<ContentAttribute> attributes;
    std::string_view child = {};
    std::vector<ContentAttribute> child_attributes = {};

    bool has_attribute(std::string_view attribute) const;
    /// Types may have millions of these children.
    bool is_indexed() const { return child == "BLOCK" || child == "Block"; }
};

/// The row for a combiner, or nullptr for one that we do not know.
const Combiner* find_combiner(std::string_view name);

/// Whether projects have elements of this name; the contents of others go into UNKNOWN.
bool has_element(std::string_view combiner);
inline constexpr std::string_view unknown_combiner = "UNKNOWN";

} // namespace hdtrace::merger
