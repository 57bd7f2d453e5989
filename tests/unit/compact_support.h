// Reads what compact traces hold.
#pragma once

#include "hdtrace/format/compressed.h"
#include "writer_support.h"

namespace hdtrace::test {

inline std::string text_of_compact(const std::string& path)
{
    const std::string bytes = content_of(path);
    const auto read_at = [&](int64_t offset, char* target, size_t size) {
        return bytes.copy(target, size, static_cast<size_t>(offset));
    };
    hdtrace::detail::CompressedText compact(read_at, static_cast<int64_t>(bytes.size()));
    std::string text(static_cast<size_t>(compact.size()), '\0');
    EXPECT_EQ(compact.read(text.data(), text.size()), text.size());
    EXPECT_EQ(compact.refusal(), "");
    return text;
}

/// What any trace of the tests holds.
inline std::string text_of(const Trace& trace)
{
    return trace.writer.is_compact() ? text_of_compact(trace.path() + ".compact") : trace.content();
}

} // namespace hdtrace::test
