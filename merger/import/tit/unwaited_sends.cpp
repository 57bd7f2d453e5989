#include "merger/import/tit/unwaited_sends.h"

namespace hdtrace::importer::tit {

void UnwaitedSends::add(const Action& action)
{
    const auto number = [&](std::size_t i) {
        return i < action.arguments.size() ? whole_number(action.arguments[i]).value_or(0) : 0;
    };
    if (action.name == "isend") {
        start({action.rank, number(0), number(1)}, true);
    } else if (action.name == "irecv") {
        start({number(0), action.rank, number(1)}, false);
    } else if (action.name == "waitall") {
        m_open.clear();
    } else if (action.name == "wait") {
        const auto found = m_open.find({number(0), number(1), number(2)});
        if (found == m_open.end())
            return;
        found->second.pop_front();
        if (found->second.empty())
            m_open.erase(found);
    }
}

void UnwaitedSends::start(const Message& message, bool is_send)
{
    m_open[message].push_back({m_started++, is_send});
}

std::set<std::int64_t> UnwaitedSends::numbers() const
{
    std::set<std::int64_t> sends;
    for (const auto& [message, all] : m_open)
        for (const Started& started : all)
            if (started.is_send)
                sends.insert(started.number);
    return sends;
}

} // namespace hdtrace::importer::tit
