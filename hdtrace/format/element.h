// element.h - an XML element with its attributes, as all readers hand it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace {

struct Attribute {
    std::string name;
    std::string value;

    bool operator==(const Attribute&) const = default;
};

/// The name by which traces of today call the attribute that older ones call @p name: "rid" for "aid"; else
/// @p name itself.
std::string_view current_name(std::string_view name);

struct Element {
    std::string name;
    std::vector<Attribute> attributes; ///< in the order of the file

    /// The value of an attribute, or null. Where no attribute has this very name, another spelling of it is
    /// taken: find("rid") also sees the `aid` of older traces, find("rootRank") the `root` of Gather. The
    /// result belongs to the element.
    const std::string* find(std::string_view name) const;
    /// The value that find() finds, as a number; nothing if there is none or it is no 64-bit number.
    std::optional<std::int64_t> integer(std::string_view name) const;

    bool operator==(const Element&) const = default;
};

} // namespace hdtrace
