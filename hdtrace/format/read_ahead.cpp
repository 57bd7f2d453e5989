#include "hdtrace/format/read_ahead.h"

#include <utility>

namespace hdtrace {
namespace {

// Together they fit into a processor's own cache.
constexpr std::size_t states_of_batch = 256;
constexpr std::size_t batches = 8;
constexpr std::size_t worth_waking = batches / 2; ///< to wake a thread takes as long as to read some states

} // namespace

ReadAhead::ReadAhead(std::vector<TraceFile> traces, const Selection& selection, Look look,
                     ReadingLimits limits)
    : m_states(std::move(traces), selection, limits), m_look(std::move(look)), m_empty(batches)
{
    m_reader = std::thread([this] { read(); });
}

ReadAhead::~ReadAhead()
{
    {
        const std::lock_guard lock(m_mutex);
        m_is_abandoned = true;
    }
    m_changed.notify_all();
    m_reader.join();
}

// The only one that runs in the other thread, with what it calls.
void ReadAhead::read()
{
    std::deque<Batch> empty;
    for (bool is_last = false; !is_last;) {
        if (empty.empty())
            empty = take_empty();
        if (empty.empty())
            return;
        Batch batch = std::move(empty.front());
        empty.pop_front();
        fill(batch);
        is_last = batch.is_last;
        put_full(std::move(batch));
    }
}

void ReadAhead::fill(Batch& batch)
{
    batch.size = 0;
    try {
        batch.items.resize(states_of_batch);
        while (batch.size < states_of_batch) {
            State* const state = m_states.next();
            if (!state) {
                batch.is_last = true;
                return;
            }
            Item& item = batch.items[batch.size++];
            item.trace = &m_states.trace();
            std::swap(item.state, *state); // both sides use memory again
            item.is_marked = m_look && m_look(*item.trace, item.state);
        }
    } catch (...) {
        batch.error = std::current_exception();
        batch.is_last = true;
    }
}

std::deque<ReadAhead::Batch> ReadAhead::take_empty()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_empty.size() >= worth_waking || m_is_abandoned; });
    return m_is_abandoned ? std::deque<Batch>() : std::exchange(m_empty, {});
}

void ReadAhead::put_empty(Batch batch)
{
    bool is_enough = false;
    {
        const std::lock_guard lock(m_mutex);
        m_empty.push_back(std::move(batch));
        is_enough = m_empty.size() == worth_waking;
    }
    if (is_enough)
        m_changed.notify_all();
}

ReadAhead::Batch ReadAhead::take_full()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return !m_full.empty(); });
    Batch batch = std::move(m_full.front());
    m_full.pop_front();
    return batch;
}

void ReadAhead::put_full(Batch batch)
{
    {
        const std::lock_guard lock(m_mutex);
        m_full.push_back(std::move(batch));
    }
    m_changed.notify_all();
}

void ReadAhead::prefetch(std::size_t position) const
{
    const std::vector<Item>& items = m_current.items;
    for (const Element& child : items[position].state.children)
        child.attributes.prefetch();
    if (position + 1 < m_current.size) {
        const State& next = items[position + 1].state;
        next.attributes.prefetch();
        for (const Element& child : next.children)
            __builtin_prefetch(&child);
    }
    if (position + 2 < m_current.size)
        for (std::size_t line = 0; line < sizeof(Item); line += 64)
            __builtin_prefetch(reinterpret_cast<const char*>(&items[position + 2]) + line);
}

const ReadAhead::Item* ReadAhead::next()
{
    while (m_handed_out == m_current.size) {
        if (m_current.error)
            std::rethrow_exception(m_current.error);
        if (m_current.is_last)
            return nullptr;
        if (!m_current.items.empty())
            put_empty(std::move(m_current));
        m_current = take_full();
        m_handed_out = 0;
    }
    prefetch(m_handed_out);
    return &m_current.items[m_handed_out++];
}

} // namespace hdtrace
