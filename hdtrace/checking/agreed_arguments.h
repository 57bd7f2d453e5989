// agreed_arguments.h - what all members must give alike in a collective call.
#pragma once

#include <optional>
#include <string>

#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/type_map.h"

namespace hdtrace {

struct DifferingArgument {
    const CollectiveCall* call;
    const CollectiveCall* other;
    std::string here; ///< what is different, as `call` gives it: "dims=2;2;"
    std::string there;
};

/// The first argument that must be the same (CallFacts::agreed) and is not; nothing if all are. On an
/// inter-communicator only who is on the same side must agree. Only calls of the same function are compared;
/// they may have failed, perhaps because of this.
std::optional<DifferingArgument> find_differing_argument(const Collective& collective, TypeMaps& types);

} // namespace hdtrace
