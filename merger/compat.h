// Projects for tools that read less than ours.
#pragma once

#include "merger/datatypes.h"

#include <cstdint>
#include <vector>

namespace hdtrace::merger {

enum class Compat {
    none,
    piosimhd, ///< the original Java tools
};

/// The datatypes with those that the original tools refuse as CONTIGUOUS of BYTE of the same size, for which
/// an MPI_BYTE is added if need be. Throws std::invalid_argument if a size is not known.
std::vector<DescribedDatatype> datatypes_for_piosimhd(const ProcessDatatypes& datatypes);

} // namespace hdtrace::merger
