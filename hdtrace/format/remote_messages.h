// remote_messages.h - what a process asks a RemoteReader, and what it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hdtrace/format/state_bytes.h"
#include "hdtrace/format/traces.h"

namespace hdtrace::detail {

/// A question begins with it.
enum class Question : std::uint8_t {
    open,  ///< with a ReadingJob. The answer is empty, or says what went wrong
    read,  ///< the answer has the next states
    close, ///< the answer is empty
};

/// What an answer consists of; each begins with it.
enum class Answer : std::uint8_t {
    state,      ///< the position of its trace in the job, and the state
    end,        ///< behind the last state: what the traces lack, and which have odd lines
    open_error, ///< instead of what would come next
    read_error,
};

/// What MergedTraces is to read.
struct ReadingJob {
    std::vector<TraceFile> traces; ///< without labels
    Selection selection;
    std::size_t memory = 0;
    std::size_t answer_size = 0; ///< bytes of an answer, about
};

void put(const ReadingJob& job, ByteWriter& bytes);
ReadingJob take_reading_job(ByteReader& bytes);

} // namespace hdtrace::detail
