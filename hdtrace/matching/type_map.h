// type_map.h - which bytes a datatype stands for, in the order of its data, from what the project says.
//
// A map is as large as the description of its type: what repeats is described once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "hdtrace/format/objects.h"

namespace hdtrace {

class TypeMap;
using TypeMapPointer = std::shared_ptr<const TypeMap>;

/// Equal copies of a part, at equal distances.
struct Copies {
    std::int64_t place = 0; ///< of the first one, in bytes
    std::int64_t count = 0;
    std::int64_t stride = 0; ///< from one to the next, in bytes
    TypeMapPointer part;
};

class TypeMap {
  public:
    /// No place or size is larger, so that sums of a few of them can be computed.
    static constexpr std::int64_t most_bytes = std::int64_t{1} << 60;

    /// One piece of so many bytes.
    static TypeMapPointer piece(std::int64_t size);
    /// Parts one behind the other in the order of the data. Throws DatatypeError if that is too large or
    /// nested too deeply.
    static TypeMapPointer join(const std::vector<Copies>& parts);

    /// Bytes of data.
    std::int64_t size() const { return m_size; }
    /// Where the first byte is, and where the place behind the last one is.
    std::int64_t begin() const { return m_begin; }
    std::int64_t end() const { return m_end; }
    /// Whether each byte stands behind those that are before it in the data.
    bool is_ascending() const { return m_is_ascending; }

    /// Gives visit(begin, end) each piece behind the first @p skipped bytes of data, until it says false.
    /// Pieces may touch each other. @p origin is added to all places. False if it was stopped.
    template <class Visit> bool visit_pieces(std::int64_t origin, std::int64_t skipped, Visit&& visit) const;

    /// How many bytes of data stand before a place; only if is_ascending().
    std::int64_t data_before(std::int64_t place) const;

  private:
    struct Row : Copies {
        std::int64_t data_before = 0; ///< bytes of data in all rows before
        std::int64_t begin() const
        {
            return place + std::min<std::int64_t>(0, (count - 1) * stride) + part->begin();
        }
        std::int64_t end() const
        {
            return place + std::max<std::int64_t>(0, (count - 1) * stride) + part->end();
        }
        bool is_ascending() const;
    };

    void add(const Copies& copies);

    std::vector<Row> m_rows; ///< none: one piece from 0
    int m_depth = 0;         ///< how many maps are nested in this one
    std::int64_t m_size = 0;
    std::int64_t m_begin = 0;
    std::int64_t m_end = 0;
    bool m_is_ascending = true;
};

/// The project describes a datatype that cannot be; what() says which way.
class DatatypeError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A datatype of a process.
struct MappedType {
    TypeMapPointer map;
    std::int64_t extent = 0;
};

/// The maps of the datatypes of a project, made when they are asked for.
class TypeMaps {
  public:
    /// @p objects must outlive this.
    explicit TypeMaps(const ObjectTable& objects) : m_objects(objects) {}

    /// Null if the project does not tell what the type is made of. Throws DatatypeError.
    const MappedType* find(std::int64_t rank, std::int64_t tid);
    /// The same, but null also if the type cannot be.
    const MappedType* find_possible(std::int64_t rank, std::int64_t tid);

  private:
    MappedType make(std::int64_t rank, const Datatype& datatype);
    std::vector<Copies> parts(std::int64_t rank, const Datatype& datatype);

    const ObjectTable& m_objects;
    std::unordered_map<const Datatype*, MappedType> m_types;
    int m_depth = 0;
};

template <class Visit>
bool TypeMap::visit_pieces(std::int64_t origin, std::int64_t skipped, Visit&& visit) const
{
    if (m_rows.empty())
        return skipped >= m_size || visit(origin + skipped, origin + m_size);
    auto row = std::ranges::upper_bound(m_rows, skipped, {}, &Row::data_before) - 1;
    std::int64_t rest = skipped - row->data_before;
    for (; row != m_rows.end(); ++row, rest = 0) {
        std::int64_t i = rest / row->part->size();
        for (rest %= row->part->size(); i < row->count; ++i, rest = 0) {
            if (!row->part->visit_pieces(origin + row->place + i * row->stride, rest, visit))
                return false;
        }
    }
    return true;
}

} // namespace hdtrace
