#include "hdtrace/format/text_notes.h"

#include <algorithm>

namespace hdtrace::detail {

void TextNotes::clear()
{
    m_records.clear();
    m_values.clear();
    m_record = m_value = 0;
}

void TextNotes::forget_before(std::int64_t byte)
{
    const auto kept =
        std::ranges::find_if(m_records, [=](const Record& record) { return record.end > byte; });
    if (kept == m_records.end())
        return clear();
    const auto records = static_cast<std::size_t>(kept - m_records.begin());
    const std::size_t values = kept->first_value;
    m_records.erase(m_records.begin(), kept);
    m_values.erase(m_values.begin(), m_values.begin() + static_cast<std::ptrdiff_t>(values));
    for (Record& record : m_records)
        record.first_value -= values;
    if (m_record < records)
        m_value = 0;
    m_record = std::max(m_record, records) - records;
}

} // namespace hdtrace::detail
