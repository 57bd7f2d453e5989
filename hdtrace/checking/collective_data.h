// collective_data.h - whether members of a communicator give as much, and of the same types, as others take.
#pragma once

#include <optional>
#include <string>

#include "hdtrace/checking/type_signature.h"
#include "hdtrace/matching/collectives.h"

namespace hdtrace {

struct DataMismatch {
    bool is_type = false; ///< else the size
    const CollectiveCall* call = nullptr;
    const CollectiveCall* other = nullptr;
    std::string here;  ///< what the call does: "gives 8 bytes to rank 1"
    std::string there; ///< and the other one
};

/// The first pair that does not fit, of an operation which all members called with the same root. Neighbours
/// are compared where the trace says who they are (HDTRACE_FOR_CHECK, or lists of what comes from whom).
std::optional<DataMismatch> find_mismatch(const Collective& collective, TypeSignatures& signatures);

} // namespace hdtrace
