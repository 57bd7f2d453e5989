// state_bytes.h - states as bytes, for another process of the same program on a machine of the same kind.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/format/bytes.h"
#include "hdtrace/format/state.h"

namespace hdtrace::detail {

/// Names of elements and of their attributes are sent once. States have to be read in the order in which they
/// were put, by one reader.
class StateWriter {
  public:
    void put(const State& state, ByteWriter& bytes);

  private:
    void put_element(const Element& element, ByteWriter& bytes);
    void put_names(const Element& element, ByteWriter& bytes);
    static void put_values(const AttributeList& attributes, ByteWriter& bytes);

    /// By the list of the attributes' names, which is shared: the elements with it, and their numbers.
    std::unordered_map<const NameList*, std::vector<std::pair<std::string, std::uint32_t>>> m_numbers;
    std::uint32_t m_count = 0;
    std::int64_t m_time = 0; ///< of the state before
};

class StateReader {
  public:
    /// @p state's memory is used again.
    void take(ByteReader& bytes, State& state);

  private:
    struct Names {
        std::string element;
        ElementNames attributes;
    };

    void take_element(ByteReader& bytes, Element& element);
    static Names take_names(ByteReader& bytes);
    static void take_values(ByteReader& bytes, AttributeList& attributes);

    std::vector<Names> m_names; ///< by number
    std::int64_t m_time = 0;    ///< of the state before
    std::vector<Element> m_spare_children;
    std::vector<State> m_spare_states;
};

} // namespace hdtrace::detail
