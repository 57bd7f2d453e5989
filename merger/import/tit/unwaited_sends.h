// Sends that do not block and that no action waits for: that is how SimGrid's traces tell buffered ones.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>

#include "merger/import/tit/action_reader.h"

namespace hdtrace::importer::tit {

/// Of one process. Numbers that cannot be read are left to who imports the action.
class UnwaitedSends {
  public:
    /// All actions, in their order.
    void add(const Action& action);
    /// So many operations that do not block were started before them.
    std::set<std::int64_t> numbers() const;

  private:
    struct Started {
        std::int64_t number;
        bool is_send;
    };
    using Message = std::array<std::int64_t, 3>; ///< source, destination and tag

    void start(const Message& message, bool is_send);

    std::map<Message, std::deque<Started>> m_open;
    std::int64_t m_started = 0;
};

} // namespace hdtrace::importer::tit
