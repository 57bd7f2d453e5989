// spare_nodes.h - what was taken out of a map, to be put in again.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hdtrace::detail {

/// Nodes of a map whose memory is used again, with all that their values have reserved. So many things come
/// and go that asking for memory each time would be most of the work.
template <class Map> class SpareNodes {
  public:
    using Node = typename Map::node_type;

    void add(Node node)
    {
        if (m_nodes.size() < most)
            m_nodes.push_back(std::move(node));
    }
    /// A node with this key, and with the value that it had before or a new one.
    Node take(const typename Map::key_type& key)
    {
        if (m_nodes.empty()) {
            Map of_one;
            of_one.try_emplace(key);
            return of_one.extract(of_one.begin());
        }
        Node node = std::move(m_nodes.back());
        m_nodes.pop_back();
        node.key() = key;
        return node;
    }

  private:
    /// As many operations as are in flight in a large run. They were there at once before, so that it takes
    /// no more memory than the run has needed anyway.
    static constexpr std::size_t most = 1 << 17;

    std::vector<Node> m_nodes;
};

} // namespace hdtrace::detail
