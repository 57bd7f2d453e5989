// bindings.h - the parts of the module _hdtrace, and what they share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/format/merged_traces.h"

namespace hdtrace {

/// As Python holds it.
using ProjectPointer = std::shared_ptr<OpenedProject>;

/// A state with whose it is.
struct OwnedState : State {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
};

/// Text that may name files, whose names need not be UTF-8.
pybind11::object file_text(const std::string& text);
pybind11::list file_texts(const std::vector<std::string>& texts);
pybind11::list missing_texts(const std::vector<MissingEnd>& ends);
pybind11::dict to_dict(const std::vector<Attribute>& attributes);

/// The names of all values of an enumeration, which count from 0.
template <class Name, std::size_t count> pybind11::tuple names_of(std::string_view (*name_of)(Name))
{
    pybind11::tuple names(count);
    for (std::size_t i = 0; i < count; ++i)
        names[i] = name_of(static_cast<Name>(i));
    return names;
}

void bind_traces(pybind11::module_& module);
void bind_project(pybind11::module_& module);
void bind_calls(pybind11::module_& module);
void bind_matches(pybind11::module_& module);
void bind_statistics(pybind11::module_& module);
void bind_checks(pybind11::module_& module);
void bind_writer(pybind11::module_& module);

} // namespace hdtrace
