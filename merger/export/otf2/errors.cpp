#include "merger/export/otf2/errors.h"

#include <atomic>
#include <cstdarg>
#include <cstdint>

#include "merger/export/format.h"

namespace hdtrace::exporter::otf2 {

namespace {

std::atomic<OTF2_ErrorCode> first_error = OTF2_SUCCESS;

/// Whether it is none of the codes for warnings, which are negative.
bool is_error(OTF2_ErrorCode code)
{
    return code > OTF2_SUCCESS;
}

OTF2_ErrorCode remember(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*,
                        va_list)
{
    OTF2_ErrorCode none = OTF2_SUCCESS;
    if (is_error(code))
        first_error.compare_exchange_strong(none, code);
    return code;
}

} // namespace

void remember_first_error()
{
    first_error = OTF2_SUCCESS;
    OTF2_Error_RegisterCallback(remember, nullptr);
}

void check(OTF2_ErrorCode result)
{
    if (result == OTF2_SUCCESS)
        return;
    const OTF2_ErrorCode first = first_error; // what follows from it has less of a name
    throw ConvertError(std::string("the library of OTF2 says: ") +
                       OTF2_Error_GetDescription(first != OTF2_SUCCESS ? first : result));
}

void check_whether_all_is_written(const std::string& archive)
{
    const OTF2_ErrorCode first = first_error;
    if (first != OTF2_SUCCESS)
        throw ConvertError(archive + ": the library of OTF2 says: " + OTF2_Error_GetDescription(first));
}

} // namespace hdtrace::exporter::otf2
