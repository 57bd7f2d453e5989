#include "hdtrace/format/state.h"

#include <algorithm>

namespace hdtrace {

bool State::is_unfinished() const
{
    const auto found = std::ranges::find(attributes, "unfinished", &Attribute::name);
    return found != attributes.end() && found->value == "1";
}

} // namespace hdtrace
