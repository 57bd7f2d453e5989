// The file that the library of OTF2 opens to read an archive.
#pragma once

#include <string>

namespace hdtrace::importer::otf2 {

/// The library believes the file how many properties of the archive it tells: it asks for memory for them and
/// looks for each, behind the end of the file as well. Throws ImportError if there cannot be so many.
void check_anchor(const std::string& path);

} // namespace hdtrace::importer::otf2
