// doubtful_lines.h - the part of a trace that has to be shown to its schema.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "hdtrace/format/file.h"
#include "hdtrace/format/line_parser.h"

namespace hdtrace::detail {

/// A trace, in which lines are empty whose states and events are certainly as the schema says. That is right
/// up to the first line that is not valid by itself: what follows may belong to it, and is handed out as it
/// is.
class DoubtfulLines : public ByteSource {
  public:
    /// Whether a line is valid as all that stands in a trace with this beginning, which ends with the root's
    /// opening tag.
    using IsValidAlone = std::function<bool(const std::string& beginning, std::string_view line)>;

    /// @p lines must outlive this.
    DoubtfulLines(WholeLines& lines, IsValidAlone is_valid_alone);

    /// Whether the root has its usual place and is as the schema says.
    bool has_valid_root() const { return m_parser.has_value(); }

    std::size_t read(char* target, std::size_t size) override;
    int error() const override { return m_lines.error(); }
    std::string refusal() const override { return m_lines.refusal(); }
    std::size_t most_items() const override { return m_lines.most_items(); }

  private:
    void read_beginning();
    void fill();
    void add_skipped();
    bool is_valid(std::string_view line);

    WholeLines& m_lines;
    IsValidAlone m_is_valid_alone;
    std::string m_beginning;
    std::optional<LineParser> m_parser; ///< while lines are looked at
    State m_state;
    int m_odd_lines = 0;
    std::size_t m_skipped = 0; ///< lines, of which nothing was handed out
    std::string m_text;        ///< to be handed out before the other lines
    std::size_t m_handed_out = 0;
};

} // namespace hdtrace::detail
