// segments.h - the files of a trace of which only the last part was kept (docs/format.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hdtrace/format/element.h"

namespace hdtrace::detail {

/// The files of the trace @p path, in the order of time; nearly always it is one. @p root is that of the file
/// itself, without attributes if it was cut off before; read_root(file) throws ReadError if that is no trace.
/// Files of other runs are left out.
std::vector<std::string> segments_of(const std::string& path, const Element& root,
                                     const std::function<Element(const std::string&)>& read_root);

} // namespace hdtrace::detail
