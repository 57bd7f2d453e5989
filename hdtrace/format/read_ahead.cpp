#include "hdtrace/format/read_ahead.h"

#include <utility>

namespace hdtrace {
namespace {

constexpr std::size_t states_of_batch = 1024;
constexpr std::size_t batches = 4;

} // namespace

ReadAhead::ReadAhead(std::vector<TraceFile> traces, const Selection& selection, Look look)
    : m_states(std::move(traces), selection), m_look(std::move(look)), m_empty(batches)
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
    for (bool is_last = false; !is_last;) {
        std::optional<Batch> batch = take_batch(m_empty);
        if (!batch)
            return;
        fill(*batch);
        is_last = batch->is_last;
        put_batch(m_full, std::move(*batch));
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
            if (m_look)
                m_look(*item.trace, item.state);
        }
    } catch (...) {
        batch.error = std::current_exception();
        batch.is_last = true;
    }
}

std::optional<ReadAhead::Batch> ReadAhead::take_batch(std::deque<Batch>& from)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return !from.empty() || m_is_abandoned; });
    if (m_is_abandoned)
        return {};
    Batch batch = std::move(from.front());
    from.pop_front();
    return batch;
}

void ReadAhead::put_batch(std::deque<Batch>& to, Batch batch)
{
    {
        const std::lock_guard lock(m_mutex);
        to.push_back(std::move(batch));
    }
    m_changed.notify_all();
}

const ReadAhead::Item* ReadAhead::next()
{
    while (m_handed_out == m_current.size) {
        if (m_current.error)
            std::rethrow_exception(m_current.error);
        if (m_current.is_last)
            return nullptr;
        if (!m_current.items.empty())
            put_batch(m_empty, std::move(m_current));
        m_current = *take_batch(m_full); // nobody abandons what is asked
        m_handed_out = 0;
    }
    return &m_current.items[m_handed_out++];
}

} // namespace hdtrace
