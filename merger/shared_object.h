// What communicators and windows have in common: several processes describe and name them.
#pragma once

#include "merger/process_info.h"
#include "merger/report.h"

#include <cstdint>
#include <optional>
#include <string>

namespace hdtrace::merger {

struct SharedObject {
    std::string name;
    std::string uid;
    Place place;                          ///< where it was described first
    std::optional<std::int64_t> named_by; ///< the lowest rank on which the program named it

    SharedObject() = default;
    explicit SharedObject(const SharedRecord& first) : name(first.name), uid(first.uid), place(first.place) {}

    /// Takes the name that the program gave on @p rank, if it did; the ranks have to come in their order. Of
    /// several names the first one holds. @p what this is stands in the warning.
    void take_name(const std::string& what, Topic several_names, std::int64_t rank,
                   const SharedRecord& record, Report& report);
};

} // namespace hdtrace::merger
