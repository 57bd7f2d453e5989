// Times as a trace has them: seconds since a base, with up to nine digits behind the point.
#pragma once

#include "hdtrace/writer/clock.h"
#include "hdtrace/writer/text.h"

namespace hdtrace {

/// Keeps the digits that the next time most likely has in common with the last one.
class TimeText {
  public:
    /// Times count from @p base_second, since the epoch. They are not rounded to @p digits, from 6 to 9: so
    /// no state ends before it begins.
    void open(int64_t base_second, int digits)
    {
        m_base = base_second * nanoseconds_per_second;
        m_cut_digits = 9 - digits;
    }
    /// Of the one thread that records.
    char* put(char* out, int64_t time)
    {
        return is_in_span(time) ? put_in_span(out, time) : put_and_keep(out, time);
    }
    /// Whether the time differs from the last one in the last digits only. Then it can be put by
    /// put_in_span().
    bool is_in_span(int64_t time) const { return in_span(time) < last_digits_end; }
    char* put_in_span(char* out, int64_t time) const
    {
        memcpy(out, m_span_text, sizeof m_span_text);
        return cut(put_last_digits(out + m_span_length, static_cast<uint32_t>(in_span(time))));
    }
    /// The same for other threads and signal handlers.
    char* put_anew(char* out, int64_t time) const { return cut(put_all_digits(out, time)); }

  private:
    uint64_t in_span(int64_t time) const { return static_cast<uint64_t>(time - m_span); }
    char* cut(char* end) const { return end - m_cut_digits; }
    char* put_and_keep(char* out, int64_t time);
    char* put_all_digits(char* out, int64_t time) const;

    int64_t m_span = -2 * nanoseconds_per_second; // times from here on differ in the last digits only
    size_t m_span_length = 0;
    int m_cut_digits = 0;
    char m_span_text[16]; // the digits that they share: at most ten, the point, and three
    int64_t m_base = 0;   // nanoseconds
};

} // namespace hdtrace
