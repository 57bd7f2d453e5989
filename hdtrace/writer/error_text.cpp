#include "hdTrace.h"

#include <string.h>

const char* hdT_strerror(int errorNumber)
{
    switch (errorNumber) {
    case HD_ERR_INVALID_ARGUMENT:
        return "A pointer is null, or a name or a number is not permitted";
    case HD_ERR_TOO_DEEP:
        return "More states are open than the depth permits";
    case HD_ERR_NO_STATE:
        return "No state is open";
    case HD_ERR_STATE_OPEN:
        return "States were open at the end of the trace";
    case HD_ERR_NOT_XML:
        return "The text is not well-formed XML";
    case HD_ERR_REFUSED:
        return "Calls failed before, so the trace is not complete";
    default:
        break;
    }
    // Unlike strerror(): thread-safe, and the same in every locale.
    const char* const text = strerrordesc_np(errorNumber);
    return text != nullptr ? text : "Unknown error";
}
