// Datatypes as both generations of the original readers load them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/type_map.h"

namespace hdtrace::exporter::piosimhd {

/// A datatype with an element and attributes that they know.
struct LoadableType {
    struct Part {
        std::int64_t id = 0;
        std::int64_t displacement = 0; ///< in bytes
        std::int64_t length = 0;       ///< how many of the type
    };

    std::int64_t id = 0;
    std::string name;
    enum class Form { named, vector, structure } form = Form::named;
    /// Of a vector.
    std::int64_t count = 0, block_length = 0, stride = 0, old_type = 0;
    /// Of a structure: at least one.
    std::vector<Part> parts;
};

/// How many types are not what they were.
struct TypeLosses {
    std::int64_t as_bytes = 0;      ///< their size is right, but not where the data is
    std::int64_t without_data = 0;  ///< one byte takes their place
    std::int64_t unknown_sizes = 0; ///< likewise
    std::int64_t extents = 0;       ///< the newer reader thinks that they end elsewhere
};

/// The types of a process, components before their users. What is no NAMED or VECTOR that both know becomes a
/// STRUCT, since the older one knows nothing else and the newer one gives other types no size. None has the
/// size 0, with which the simulator stops, but MPI_LB and MPI_UB.
std::vector<LoadableType> loadable_types(const RankDatatypes& types, TypeMaps& maps, TypeLosses& losses);

} // namespace hdtrace::exporter::piosimhd
