// xml_states.h - the states of a trace as libxml2 reads them, whatever its form is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/file.h"
#include "hdtrace/format/trc_reader.h"
#include "hdtrace/format/xml_reader.h"

namespace hdtrace::detail {

class XmlStates {
  public:
    /// A state with what is nested in it has at most so many elements and attributes.
    static constexpr std::size_t most_items = std::size_t{16} << 20;

    /// @p source must outlive the reader.
    XmlStates(const std::string& path, ByteSource& source) : m_xml(path, source)
    {
        m_xml.limit_items(most_items);
    }

    /// Has to be called first. Throws ReadError, EndOfData, OpenError, as next() does.
    void read_root();
    /// The next state of the top level; false behind the root, where nothing may follow.
    bool next(State& state);

    /// Without a name if it was not read.
    const Element& root() const { return m_root; }
    std::int64_t time_adjustment() const { return m_time_adjustment; }
    const XmlReader& xml() const { return m_xml; }
    /// Where the top-level state begins that is being read, 0 between two of them.
    std::int64_t unfinished_line() const { return m_unfinished_line; }

  private:
    /// The next state of the element that we are in; false at the element's end.
    bool read_next_sibling(State& state);
    void read_nested(std::vector<State>& states);
    void read_state(State& state);
    void read_children(std::vector<Element>& children);
    std::int64_t take_time(State& state, std::string_view name);
    void finish();

    XmlReader m_xml;
    Element m_root;
    std::int64_t m_time_adjustment = 0;
    int m_depth = 0; ///< in <Nested>
    std::int64_t m_unfinished_line = 0;
    bool m_at_end = false;
};

} // namespace hdtrace::detail
