// The datatypes of the processes: checked, components before users, equal ones kept once.
#pragma once

#include "merger/combiners.h"
#include "merger/report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace hdtrace::merger {

/// MPI_DATATYPE_NULL, MPI_COMM_NULL, MPI_FILE_NULL and MPI_WIN_NULL in traces.
inline constexpr std::int64_t null_id = -1;

/// Numbers and names of constants. Numbers at equal distances may be one entry, `0+8*1000` (number_runs.h).
struct ContentValues {
    std::vector<std::string> entries;
    std::vector<std::size_t> ends; ///< how many values each entry and those before have; none: each has one

    std::size_t size() const { return ends.empty() ? entries.size() : ends.back(); }
    std::string operator[](std::size_t position) const;
    /// Where the last of so many entries ends, from the one on that has the value at @p position; or that of
    /// all if there are not as many.
    std::size_t end_of_entries(std::size_t position, std::size_t count) const
    {
        return begin_of(std::min(entry_at(position) + count, entries.size()));
    }
    /// A list of @p count values from @p begin on: `4;0+8*1000;`.
    std::string list(std::size_t begin, std::size_t count) const;

    bool operator==(const ContentValues&) const = default;

  private:
    std::size_t entry_at(std::size_t position) const;
    std::size_t begin_of(std::size_t entry) const;
    std::string part(std::size_t entry, std::size_t begin, std::size_t end) const;
};

struct DescribedDatatype {
    std::int64_t id = 0;
    std::string combiner; ///< without MPI_COMBINER_
    std::string name;
    ContentValues integers;
    ContentValues addresses;
    std::vector<std::int64_t> types;
    std::optional<std::int64_t> size;
    std::optional<std::int64_t> lb;
    std::optional<std::int64_t> extent;

    /// MPI did not tell the contents, e.g. because its counts are too large for the functions of MPI 3.
    bool has_contents() const
    {
        return combiner == "NAMED" || integers.size() + addresses.size() + types.size() > 0;
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

/// The values at @p position for @p count children from the @p first on, as a list. The contents have been
/// checked, and they are numbers.
std::string content_list(const DescribedDatatype& datatype, const Position& position, std::size_t repeats,
                         std::size_t first, std::size_t count);

/// The child behind those that take @p entries entries of @p position from the @p first on; it may be behind
/// the last one.
std::size_t content_end(const DescribedDatatype& datatype, const Position& position, std::size_t repeats,
                        std::size_t first, std::size_t entries);

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
