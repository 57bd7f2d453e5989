// Numbers of tags in a replay that is written already.
#pragma once

#include <string>
#include <string_view>

#include "merger/export/output_directory.h"
#include "merger/export/text_output.h"
#include "merger/export/tit/actions.h"

namespace hdtrace::exporter {

/// Writes a line as ReplayActions wrote it, with the numbers that all processes use.
void renumber_line(std::string_view line, const TagNumbers& numbers, TextOutput& output);

/// The same with all lines of a file that is closed, which takes its place. Throws tools::FileError.
void renumber_file(const OutputDirectory& directory, const std::string& name, const TagNumbers& numbers);

} // namespace hdtrace::exporter
