#include "mpiwrapper/runtime/regions/float_text.h"

#include "hdtrace/writer/floating_point.h"
#include "hdtrace/writer/text.h"

#include <glib.h>

namespace hdtrace::mpi {

namespace {

constexpr double most_millionths = 9007199254740992.0; // from here on numbers are not exact

/// Most numbers are short. Null if this one is not.
char* put_short(char* out, double value)
{
    const double magnitude = value < 0 ? -value : value;
    if (!(magnitude * last_digits_end < most_millionths))
        return nullptr;
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): it is positive, and must be exact below
    const auto millionths = static_cast<int64_t>(magnitude * last_digits_end + 0.5);
    if (static_cast<double>(millionths) / last_digits_end != magnitude)
        return nullptr;
    if (__builtin_signbit(value))
        *out++ = '-';
    out = put_number(out, millionths / last_digits_end);
    const auto rest = static_cast<uint32_t>(millionths % last_digits_end);
    if (rest == 0)
        return out;
    *out++ = '.';
    out = put_last_digits(out, rest);
    while (out[-1] == '0')
        --out;
    return out;
}

char* put_any(char* out, double value)
{
    if (__builtin_isnan(value))
        return put_text(out, "NaN");
    if (__builtin_isinf(value))
        return value < 0 ? put_text(out, "-INF") : put_text(out, "INF");
    if (char* const end = put_short(out, value))
        return end;
    g_ascii_formatd(out, float_room, "%.17g", value);
    return out + strlen(out);
}

} // namespace

char* put_float(char* out, double value)
{
    return with_own_floating_point([=] { return put_any(out, value); });
}

} // namespace hdtrace::mpi
