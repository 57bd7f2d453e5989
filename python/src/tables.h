// tables.h - tables of columns as NumPy arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "hdtrace/analysis/columns.h"
#include "python/src/conversions.h"
#include "python/src/unlocked.h"

namespace hdtrace {

/// The vector moves into the array's owner.
template <class Vector> pybind11::array to_array(Vector&& values)
{
    static_assert(std::is_rvalue_reference_v<decltype(values)>);
    auto owner = std::make_unique<Vector>(std::forward<Vector>(values));
    const auto size = static_cast<pybind11::ssize_t>(owner->size());
    auto* const data = owner->data();
    const pybind11::capsule capsule(owner.release(), [](void* self) { delete static_cast<Vector*>(self); });
    return pybind11::array_t<typename Vector::value_type>(size, data, capsule);
}

inline pybind11::object to_flags(std::vector<std::uint8_t>&& values)
{
    return to_array(std::move(values)).attr("view")("bool");
}

template <class Number> pybind11::object to_python(Numbers<Number>& column)
{
    return to_array(std::move(column.values));
}

inline pybind11::object to_python(Numbers<std::uint8_t>& column)
{
    return to_flags(std::move(column.values));
}

inline pybind11::object to_python(OptionalNumbers& column)
{
    const pybind11::object masked = pybind11::module_::import("numpy.ma").attr("MaskedArray");
    return masked(to_array(std::move(column.values)), to_flags(std::move(column.missing)));
}

/// A pair: the package decides what to make of it.
inline pybind11::object to_python(Texts& column)
{
    return pybind11::make_tuple(to_array(std::move(column.codes)), file_texts(column.categories));
}

inline pybind11::object to_python(ShortTexts& column)
{
    return pybind11::make_tuple(column.codes.empty() ? to_array(std::move(column.short_codes))
                                                     : to_array(std::move(column.codes)),
                                file_texts(column.categories));
}

template <class Columns> pybind11::dict columns_to_dict(Columns columns)
{
    pybind11::dict dict;
    columns.for_each(
        [&](const std::string& name, auto& column) { dict[pybind11::str(name)] = to_python(column); });
    return dict;
}

template <class Table> pybind11::class_<Table> bind_table(pybind11::module_& module, const char* name)
{
    return pybind11::class_<Table>(module, name)
        .def("read", &Table::read, pybind11::arg("calls"), pybind11::call_guard<Unlocked>())
        .def("take",
             [](Table& table) {
                 auto columns = [&] {
                     const Unlocked unlocked;
                     return table.take();
                 }();
                 return columns_to_dict(std::move(columns));
             })
        .def_property_readonly("missing", [](const Table& table) { return missing_texts(table.missing()); });
}

} // namespace hdtrace
