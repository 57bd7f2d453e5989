// What goes wrong in the library of OTF2.
#pragma once

#include <string>

#include <otf2/otf2.h>

namespace hdtrace::exporter::otf2 {

/// From now on the library prints no errors, and the first one is remembered.
void remember_first_error();

/// Throws ConvertError if the library could not do it.
void check(OTF2_ErrorCode result);

/// Throws ConvertError if anything went wrong since remember_first_error(): when a file of @p archive cannot
/// be written, the functions of the library say that all is well.
void check_whether_all_is_written(const std::string& archive);

} // namespace hdtrace::exporter::otf2
