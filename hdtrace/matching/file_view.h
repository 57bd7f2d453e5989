// file_view.h - which bytes of a file are seen through a view.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hdtrace/matching/type_map.h"

namespace hdtrace {

class FileView {
  public:
    /// The whole file, as it is seen before MPI_File_set_view.
    FileView() : m_map(TypeMap::piece(1)), m_extent(1) {}
    FileView(std::int64_t displacement, const MappedType& filetype)
        : m_displacement(std::clamp(displacement, -TypeMap::most_bytes, TypeMap::most_bytes)),
          m_map(filetype.map), m_extent(filetype.extent)
    {
    }

    /// MPI wants file types whose bytes ascend; only with these an offset is one place in the view.
    bool is_regular() const
    {
        return m_map->size() > 0 && m_map->is_ascending() && m_extent >= m_map->end() - m_map->begin();
    }

    /// Gives visit(begin, end) the pieces of so many bytes of data from an offset in the file on, which the
    /// view shows. Pieces that touch each other are one. What would be behind 2^60 bytes is left out. Only if
    /// is_regular().
    template <class Visit> void visit_pieces(std::int64_t offset, std::int64_t size, Visit&& visit) const
    {
        if (offset < 0 || offset > TypeMap::most_bytes)
            return;
        size = std::min(size, TypeMap::most_bytes);
        std::int64_t begin = offset, end = offset; // of what was not handed out yet
        const auto extend = [&](std::int64_t piece_begin, std::int64_t piece_end) {
            piece_end = std::min(piece_end, piece_begin + size);
            if (piece_begin != end) {
                if (begin < end)
                    visit(begin, end);
                begin = piece_begin;
            }
            end = piece_end;
            size -= piece_end - piece_begin;
            return size > 0;
        };
        if (size > 0)
            visit_data(offset, size, extend);
        if (begin < end)
            visit(begin, end);
    }

  private:
    template <class Visit> void visit_data(std::int64_t offset, std::int64_t size, Visit&& visit) const
    {
        const bool is_contiguous = m_map->size() == m_extent;
        if (is_contiguous) {
            visit(offset, offset + size);
            return;
        }
        const std::int64_t first = m_displacement + m_map->begin();
        const std::int64_t tile = offset < first ? 0 : (offset - first) / m_extent;
        std::int64_t skipped = m_map->data_before(offset - m_displacement - tile * m_extent);
        std::int64_t place = m_displacement + tile * m_extent;
        while (place <= TypeMap::most_bytes && m_map->visit_pieces(place, skipped, visit)) {
            place += m_extent;
            skipped = 0;
        }
    }

    std::int64_t m_displacement = 0;
    TypeMapPointer m_map;
    std::int64_t m_extent = 0;
};

} // namespace hdtrace
