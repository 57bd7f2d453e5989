// conversions.h - our values as Python's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

#include "hdtrace/format/element.h"
#include "hdtrace/format/merged_traces.h"

namespace hdtrace {

/// Text that may name files, whose names need not be UTF-8.
pybind11::object file_text(const std::string& text);
/// In UTF-8, but for the bytes of a file's name that are none.
std::string file_bytes(const pybind11::str& text);
pybind11::list file_texts(const std::vector<std::string>& texts);
pybind11::list missing_texts(const std::vector<MissingEnd>& ends);
pybind11::dict to_dict(const AttributeList& attributes);

/// The names of all values of an enumeration, which count from 0.
template <class Name, std::size_t count> pybind11::tuple names_of(std::string_view (*name_of)(Name))
{
    pybind11::tuple names(count);
    for (std::size_t i = 0; i < count; ++i)
        names[i] = name_of(static_cast<Name>(i));
    return names;
}

} // namespace hdtrace
