#include "hdtrace/format/doubtful_lines.h"

#include <algorithm>
#include <utility>

#include "hdtrace/format/trace_lines.h"
#include "hdtrace/format/xml_states.h"

namespace hdtrace::detail {
namespace {

// Each of them costs much more than those that our writer writes.
constexpr int most_odd_lines = 1000;
// libxml2 refuses texts of more than ten million bytes.
constexpr std::size_t most_skipped = 1 << 16;

} // namespace

DoubtfulLines::DoubtfulLines(WholeLines& lines, IsValidAlone is_valid_alone)
    : m_lines(lines), m_is_valid_alone(std::move(is_valid_alone))
{
    read_beginning();
}

// Other beginnings may change what lines mean.
void DoubtfulLines::read_beginning()
{
    for (std::string_view line; m_lines.next_line(line);) {
        m_beginning += line;
        if (m_beginning.size() == line.size() && is_declaration(line))
            continue;
        if (is_opening_tag(line) && m_is_valid_alone(m_beginning, {}))
            m_parser.emplace(0, std::min(m_lines.most_items(), XmlStates::most_items));
        break;
    }
    m_text = m_beginning;
}

std::size_t DoubtfulLines::read(char* target, std::size_t size)
{
    if (m_handed_out == m_text.size() && m_parser)
        fill();
    if (m_handed_out == m_text.size())
        return m_lines.read(target, size);
    const std::size_t count = m_text.copy(target, size, m_handed_out);
    m_handed_out += count;
    return count;
}

void DoubtfulLines::fill()
{
    m_text.clear();
    m_handed_out = 0;
    while (m_skipped < most_skipped) {
        std::string_view line;
        const bool is_at_end = !m_lines.next_line(line);
        if (!is_at_end && is_valid(line)) {
            ++m_skipped;
            continue;
        }
        m_parser.reset();
        add_skipped();
        m_text += line;
        return;
    }
    add_skipped();
}

// A comment parts them from a text that follows, whose line would be another one otherwise.
void DoubtfulLines::add_skipped()
{
    if (m_skipped == 0)
        return;
    m_text.append(std::exchange(m_skipped, 0) - 1, '\n');
    m_text += "<!---->\n";
}

bool DoubtfulLines::is_valid(std::string_view line)
{
    if (m_parser->parse(line, 0, m_state))
        return m_parser->is_exact() && is_valid_entry(m_state);
    if (is_blank(line))
        return true;
    return without_blanks_behind(line) != closing && ++m_odd_lines <= most_odd_lines &&
           m_is_valid_alone(m_beginning, line);
}

} // namespace hdtrace::detail
