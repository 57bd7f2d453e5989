#include "python/src/conversions.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace hdtrace {

py::object file_text(const std::string& text)
{
    return py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefaultAndSize(text.data(), text.size()));
}

std::string file_bytes(const py::str& text)
{
    const auto bytes =
        py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
    if (!bytes)
        throw py::error_already_set();
    return py::cast<std::string>(bytes);
}

py::list file_texts(const std::vector<std::string>& texts)
{
    py::list list;
    for (const std::string& text : texts)
        list.append(file_text(text));
    return list;
}

py::list missing_texts(const std::vector<MissingEnd>& ends)
{
    py::list texts;
    for (const MissingEnd& end : ends)
        texts.append(file_text(to_string(end)));
    return texts;
}

py::dict to_dict(const AttributeList& attributes)
{
    py::dict dict;
    for (const Attribute& attribute : attributes)
        dict[py::str(attribute.name)] = py::str(attribute.value);
    return dict;
}

} // namespace hdtrace
