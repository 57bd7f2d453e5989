#include "merger/import/tit/action_reader.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "merger/import/source.h"
#include "merger/rank_map.h"

namespace hdtrace::importer::tit {

std::vector<std::string> words_of(std::string_view line)
{
    constexpr std::string_view blanks = " \t\r";
    std::vector<std::string> words;
    line = line.substr(0, line.find('#'));
    for (std::size_t begin = 0; (begin = line.find_first_not_of(blanks, begin)) != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
        words.emplace_back(line.substr(begin, end - begin));
        begin = end;
    }
    return words;
}

std::optional<std::int64_t> whole_number(const std::string& text)
{
    const char* const end = text.data() + text.size();
    std::int64_t number = 0;
    if (const auto [last, error] = std::from_chars(text.data(), end, number);
        error == std::errc{} && last == end)
        return number;
    double value = 0;
    const auto [last, error] = std::from_chars(text.data(), end, value);
    constexpr double too_large = 9.2e18;
    if (error != std::errc{} || last != end || !(std::abs(value) < too_large) || value != std::floor(value))
        return std::nullopt;
    return static_cast<std::int64_t>(value);
}

std::optional<double> amount(const std::string& text)
{
    const char* const end = text.data() + text.size();
    double value = 0;
    const auto [last, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || last != end || !std::isfinite(value) || value < 0)
        return std::nullopt;
    return value;
}

ActionReader::ActionReader(std::string path) : m_path(std::move(path)), m_file(m_path, std::ios::binary)
{
    if (!m_file.is_open())
        throw ImportError(m_path + ": " + std::strerror(errno));
}

bool ActionReader::next(Action& action)
{
    std::vector<std::string> words;
    while (words.empty()) {
        if (!std::getline(m_file, m_text))
            return false;
        ++m_line;
        m_bytes += m_text.size() + 1;
        words = words_of(m_text);
    }
    const auto rank = whole_number(words.front());
    if (!rank || *rank < 0 || *rank >= merger::process_limit)
        fail("a line begins with a rank, not with '" + words.front().substr(0, 40) + "'");
    if (words.size() < 2)
        fail("the action is missing");
    action.rank = *rank;
    action.name = std::move(words[1]);
    action.arguments.assign(std::make_move_iterator(words.begin() + 2), std::make_move_iterator(words.end()));
    return true;
}

void ActionReader::fail(const std::string& what) const
{
    throw ImportError(m_path + ":" + std::to_string(m_line) + ": " + what);
}

} // namespace hdtrace::importer::tit
