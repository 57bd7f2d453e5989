// The datatypes of the processes: checked, components before users, equal ones kept once.
#pragma once

#include "merger/combiners.h"
#include "merger/report.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace hdtrace::merger {

/// MPI_DATATYPE_NULL, MPI_COMM_NULL, MPI_FILE_NULL and MPI_WIN_NULL in traces.
inline constexpr std::int64_t null_id = -1;

struct DescribedDatatype {
    std::int64_t id = 0;
    std::string combiner; ///< without MPI_COMBINER_
    std::string name;
    std::vector<std::string> integers; ///< numbers, and names of constants
    std::vector<std::string> addresses;
    std::vector<std::int64_t> types;
    std::optional<std::int64_t> size;
    std::optional<std::int64_t> lb;
    std::optional<std::int64_t> extent;

    /// MPI did not tell the contents, e.g. because its counts are too large for the functions of MPI 3.
    bool has_contents() const
    {
        return combiner == "NAMED" || !(integers.empty() && addresses.empty() && types.empty());
    }

    bool operator==(const DescribedDatatype&) const = default;
};

struct DatatypeRecord {
    Place place;
    DescribedDatatype datatype;
};

/// How often the child element of @p combiner is repeated. Throws std::invalid_argument if the arrays of
/// @p datatype do not hold what the combiner needs.
std::size_t check_contents(const Combiner& combiner, const DescribedDatatype& datatype);

/// The value at @p position for the @p k-th of @p repeats children. The contents have been checked.
std::string content(const DescribedDatatype& datatype, const Position& position, std::size_t repeats,
                    std::size_t k);

/// Datatypes by id.
using DatatypeTable = std::map<std::int64_t, DatatypeRecord>;

/// One process's datatypes, each after those of which it consists. Owned by the pool.
using ProcessDatatypes = std::vector<const DescribedDatatype*>;

/// Programs describe mostly the same types in all processes: each is kept once.
class DatatypePool {
  public:
    /// Reports types that are inconsistent or refer to types that are not there.
    ProcessDatatypes add(const DatatypeTable& table, Report& report);

  private:
    struct Hash {
        std::size_t operator()(const DescribedDatatype& datatype) const;
    };
    std::unordered_set<DescribedDatatype, Hash> m_datatypes;
};

} // namespace hdtrace::merger
