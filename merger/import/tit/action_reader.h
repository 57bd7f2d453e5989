// The lines of SimGrid's time-independent traces.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::importer::tit {

/// What one process does: `0 send 1 7 1e6 6`.
struct Action {
    std::int64_t rank = 0;
    std::string name;
    std::vector<std::string> arguments;
};

/// The words of a line, without its comment.
std::vector<std::string> words_of(std::string_view line);

/// A whole number, which may be written as 1e6; nothing if it is none of 64 bits.
std::optional<std::int64_t> whole_number(const std::string& text);
/// A finite number that is not negative.
std::optional<double> amount(const std::string& text);

/// Reads a file line by line.
class ActionReader {
  public:
    /// Throws ImportError.
    explicit ActionReader(std::string path);

    /// False at the end of the file. Throws ImportError where a line does not begin with a rank and an
    /// action.
    bool next(Action& action);
    /// Throws ImportError, with the file and the current line.
    [[noreturn]] void fail(const std::string& what) const;

    std::uint64_t bytes_read() const { return m_bytes; }

  private:
    std::string m_path;
    std::ifstream m_file;
    std::uint64_t m_line = 0;
    std::uint64_t m_bytes = 0;
    std::string m_text;
};

} // namespace hdtrace::importer::tit
