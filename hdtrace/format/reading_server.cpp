#include "hdtrace/format/reading_server.h"

#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "hdtrace/format/errors.h"
#include "hdtrace/format/read_ahead.h"
#include "hdtrace/format/remote_messages.h"

namespace hdtrace {
namespace {

using detail::Answer;
using detail::ByteReader;
using detail::ByteWriter;
using detail::Question;
using detail::ReadingJob;
using detail::StateWriter;
using detail::take_reading_job;

/// Does it, or answers why that is not possible.
template <class Function> void try_or_answer(ByteWriter& answer, Function function)
{
    try {
        function();
    } catch (const OpenError& error) {
        answer.put(Answer::open_error);
        answer.put_text(error.file());
        answer.put(error.code().value());
    } catch (const ReadError& error) {
        answer.put(Answer::read_error);
        answer.put_text(error.file());
        answer.put(error.line());
        answer.put(error.column());
        answer.put_text(error.reason());
    }
}

} // namespace

class ReadingServer::Stream {
  public:
    explicit Stream(ReadingJob job)
        : m_answer_size(job.answer_size), m_states(job.traces, job.selection, {}, {.memory = job.memory})
    {
        for (std::uint32_t i = 0; i < job.traces.size(); ++i)
            m_positions.try_emplace(std::move(job.traces[i].path), i);
    }

    std::string read()
    {
        ByteWriter answer;
        try_or_answer(answer, [&] {
            while (answer.size() < m_answer_size) {
                const ReadAhead::Item* const item = m_states.next();
                if (!item)
                    return put_end(answer);
                answer.put(Answer::state);
                answer.put_count(position_of(*item->trace));
                m_writer.put(item->state, answer);
            }
        });
        return answer.take();
    }

  private:
    void put_end(ByteWriter& answer) const
    {
        answer.put(Answer::end);
        const std::vector<MissingEnd> missing = m_states.missing();
        answer.put_count(missing.size());
        for (const MissingEnd& end : missing) {
            answer.put_text(end.path);
            answer.put_text(end.what);
        }
        const std::vector<std::string> odd = m_states.with_odd_lines();
        answer.put_count(odd.size());
        for (const std::string& path : odd)
            answer.put_text(path);
    }

    std::uint32_t position_of(const TraceFile& trace)
    {
        const auto [known, is_new] = m_known.try_emplace(&trace);
        if (is_new)
            known->second = m_positions.at(trace.path);
        return known->second;
    }

    std::size_t m_answer_size;
    std::unordered_map<std::string, std::uint32_t> m_positions;  ///< of traces in the job, by path
    std::unordered_map<const TraceFile*, std::uint32_t> m_known; ///< of those that had states
    StateWriter m_writer;
    ReadAhead m_states;
};

ReadingServer::ReadingServer() = default;
ReadingServer::~ReadingServer() = default;

std::string ReadingServer::answer(std::uint32_t stream, std::string_view question)
{
    ByteReader bytes(question);
    switch (bytes.take<Question>()) {
    case Question::open: {
        ByteWriter answer;
        try_or_answer(answer, [&] { m_streams[stream] = std::make_unique<Stream>(take_reading_job(bytes)); });
        return answer.take();
    }
    case Question::read:
        return m_streams.at(stream)->read();
    case Question::close:
        m_streams.erase(stream);
        return {};
    }
    throw std::logic_error("what another process has sent is no question");
}

} // namespace hdtrace
