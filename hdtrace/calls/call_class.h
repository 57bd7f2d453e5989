// call_class.h - what kind of call a state is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hdtrace {

enum class CallClass : std::uint8_t {
    point_to_point, ///< sends, receives, probes, partitioned communication, and the starts of persistent ones
    completion,     ///< Wait, Test, Cancel and their families; also the ends of split collectives
    collective,     ///< blocking, non-blocking, persistent and neighborhood collectives
    one_sided,      ///< windows, and what is done on them
    file,
    communicator, ///< communicators, groups, topologies
    datatype,     ///< datatypes and packing
    process,      ///< the life of MPI and of processes: Init, Finalize, spawn, connect
    query,        ///< what tells about MPI and its objects, but communicates nothing
    event,        ///< a moment that the program marked
    other,        ///< states that are no calls of MPI
};

/// The class of a state by its name, e.g. of "Isend". Names of large-count functions (`Isend_c`) have the
/// class of the others. Any thread may call it.
CallClass class_of(std::string_view call);

/// Its name as users write it: "point-to-point", "completion", ... The text lives forever.
std::string_view class_name(CallClass call_class);

/// The class that is so called.
std::optional<CallClass> find_class(std::string_view name);

} // namespace hdtrace
