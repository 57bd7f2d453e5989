#include "hdtrace/format/remote_traces.h"

#include <stdexcept>
#include <utility>

#include "hdtrace/format/errors.h"

namespace hdtrace::detail {
namespace {

/// Of an answer that tells what went wrong.
[[noreturn]] void throw_error(Answer kind, ByteReader& bytes)
{
    if (kind != Answer::open_error && kind != Answer::read_error)
        throw std::logic_error("what another process has sent is no answer");
    std::string file(bytes.take_text());
    if (kind == Answer::open_error)
        throw OpenError(std::move(file), bytes.take<int>());
    const auto line = bytes.take<std::int64_t>();
    const auto column = bytes.take<std::int64_t>();
    throw ReadError(std::move(file), line, column, std::string(bytes.take_text()));
}

} // namespace

RemoteTraces::RemoteTraces(std::shared_ptr<RemoteReader> reader, ReadingJob job)
    : m_reader(std::move(reader)), m_stream(m_reader->new_stream())
{
    ByteWriter question;
    question.put(Question::open);
    put(job, question);
    ask(question.take());
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
    if (!m_rest.empty())
        throw_error(m_rest.take<Answer>(), m_rest);
    ask(Question::read);
}

void RemoteTraces::ask(Question question)
{
    ByteWriter bytes;
    bytes.put(question);
    ask(bytes.take());
}

void RemoteTraces::ask(const std::string& question)
{
    m_reader->ask(m_stream, question);
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
    const auto kind = m_rest.take<Answer>();
    if (kind == Answer::state) {
        m_current = m_rest.take_count();
        m_states.take(m_rest, state);
        return true;
    }
    m_at_end = true;
    if (kind != Answer::end)
        throw_error(kind, m_rest);
    take_end();
    return false;
}

void RemoteTraces::take_end()
{
    for (auto count = m_rest.take_count(); count > 0; --count) {
        MissingEnd& missing = m_missing.emplace_back();
        missing.path = m_rest.take_text();
        missing.what = m_rest.take_text();
    }
    for (auto count = m_rest.take_count(); count > 0; --count)
        m_odd.emplace_back(m_rest.take_text());
}

} // namespace hdtrace::detail
