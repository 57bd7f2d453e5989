#include "hdtrace/format/remote_traces.h"

#include <stdexcept>
#include <utility>

#include "hdtrace/format/errors.h"

namespace hdtrace::detail {
namespace {

[[noreturn]] void throw_open_error(ByteReader& bytes)
{
    std::string file(bytes.take_text());
    throw OpenError(std::move(file), bytes.take<int>());
}

[[noreturn]] void throw_read_error(ByteReader& bytes)
{
    std::string file(bytes.take_text());
    const auto line = bytes.take<std::int64_t>();
    const auto column = bytes.take<std::int64_t>();
    throw ReadError(std::move(file), line, column, std::string(bytes.take_text()));
}

} // namespace

RemoteTraces::RemoteTraces(std::shared_ptr<RemoteReader> reader, ReadingJob job)
    : m_reader(std::move(reader)), m_stream(m_reader->new_stream())
{
    ByteWriter bytes;
    bytes.put(Question::open);
    put(job, bytes);
    m_reader->ask(m_stream, bytes.take());
    m_is_asked = true;
    m_traces = std::move(job.traces);
}

// Whoever does not want the rest has no use for errors either.
RemoteTraces::~RemoteTraces()
{
    try {
        if (m_is_asked)
            m_reader->answer(m_stream);
        ask(Question::close);
        m_reader->answer(m_stream);
    } catch (...) {
    }
}

void RemoteTraces::wait_until_open()
{
    get_answer();
    if (!m_rest.empty()) {
        State none;
        next(none); // throws
    }
    ask(Question::read);
}

void RemoteTraces::ask(Question question)
{
    ByteWriter bytes;
    bytes.put(question);
    m_reader->ask(m_stream, bytes.take());
    m_is_asked = true;
}

void RemoteTraces::get_answer()
{
    m_is_asked = false;
    m_answer = m_reader->answer(m_stream);
    m_rest = ByteReader(m_answer);
}

bool RemoteTraces::next(State& state)
{
    if (m_at_end)
        return false;
    if (m_rest.empty()) {
        get_answer();
        ask(Question::read);
    }
    switch (m_rest.take<Answer>()) {
    case Answer::state:
        m_current = m_rest.take_count();
        m_states.take(m_rest, state);
        return true;
    case Answer::end:
        take_end();
        return false;
    case Answer::open_error:
        m_at_end = true;
        throw_open_error(m_rest);
    case Answer::read_error:
        m_at_end = true;
        throw_read_error(m_rest);
    }
    throw std::logic_error("what another process has sent is no answer");
}

void RemoteTraces::take_end()
{
    m_at_end = true;
    for (auto count = m_rest.take_count(); count > 0; --count) {
        MissingEnd& missing = m_missing.emplace_back();
        missing.path = m_rest.take_text();
        missing.what = m_rest.take_text();
    }
    for (auto count = m_rest.take_count(); count > 0; --count)
        m_odd.emplace_back(m_rest.take_text());
}

} // namespace hdtrace::detail
