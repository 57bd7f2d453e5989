#include "merger/info_values.h"

#include "hdtrace/format/number_runs.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

namespace hdtrace::merger {

namespace {

/// The number at the begin of @p text, which is taken away.
std::optional<std::int64_t> take_number(std::string_view& text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc())
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool take_character(std::string_view& text, char wanted)
{
    if (!text.starts_with(wanted))
        return false;
    text.remove_prefix(1);
    return true;
}

/// `0+4457;`, `-1+94352;` or `s7;`, which is taken away.
std::optional<SiteFrame> take_frame(std::string_view& text)
{
    std::optional<std::int64_t> object = SiteFrame::source_line;
    if (!take_character(text, 's')) {
        object = take_number(text);
        if (!object || *object < SiteFrame::no_object || !take_character(text, '+'))
            return std::nullopt;
    }
    const auto offset = take_number(text);
    if (!offset || *offset < 0 || !take_character(text, ';'))
        return std::nullopt;
    return SiteFrame{*object, *offset};
}

/// Of `0+8*1000`.
std::size_t run_length(const InfoLine& line, std::string_view key, const std::string& entry)
{
    const std::string list = entry + ';';
    std::string_view rest = list;
    const auto run = take_run(rest);
    if (!run)
        line.fail(key, "'" + entry + "' is not first+step*count");
    return static_cast<std::size_t>(run->count);
}

} // namespace

std::vector<std::string> split_list(std::string_view text)
{
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

void check_value(const InfoLine& line, std::string_view key, const std::string& value)
{
    const auto allowed = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
    };
    if (value.empty() || !std::ranges::all_of(value, allowed))
        line.fail(key, "'" + value + "' is neither a number nor a constant");
}

ContentValues value_list(const InfoLine& line, std::string_view key, bool may_have_runs)
{
    ContentValues values{split_list(line.text_or(key, "")), {}};
    const auto is_run = [](const std::string& entry) { return entry.find('*') != std::string::npos; };
    const bool has_runs = may_have_runs && std::ranges::any_of(values.entries, is_run);
    std::size_t size = 0;
    for (const std::string& entry : values.entries) {
        if (has_runs && is_run(entry)) {
            size += run_length(line, key, entry);
        } else {
            check_value(line, key, entry);
            ++size;
        }
        if (has_runs)
            values.ends.push_back(size);
    }
    return values;
}

std::vector<std::int64_t> id_list(const InfoLine& line, std::string_view key)
{
    std::vector<std::int64_t> ids;
    for (const std::string& value : split_list(line.text_or(key, ""))) {
        try {
            std::size_t used = 0;
            ids.push_back(std::stoll(value, &used));
            if (used != value.size())
                throw std::invalid_argument(value);
        } catch (const std::logic_error&) {
            line.fail(key, "'" + value + "' is not an id");
        }
    }
    return ids;
}

std::vector<SiteFrame> site_frames(const InfoLine& line, std::string_view key)
{
    std::vector<SiteFrame> frames;
    for (std::string_view rest = line.text(key); !rest.empty();) {
        const std::string text(rest.substr(0, std::min<std::size_t>(rest.find(';'), 60)));
        const auto frame = take_frame(rest);
        if (!frame)
            line.fail(key, "'" + text + "' is not object+offset");
        frames.push_back(*frame);
    }
    if (frames.empty())
        line.fail(key, "a site has at least one frame");
    return frames;
}

std::string build_id(const InfoLine& line, std::string_view key)
{
    constexpr std::size_t most = 128;
    std::string id = line.text_or(key, "");
    const bool is_right = id.find_first_not_of("0123456789abcdef") == std::string::npos &&
                          id.size() % 2 == 0 && id.size() <= most;
    if (!is_right)
        line.fail(key, "'" + id.substr(0, 60) + "' is no build id");
    return id;
}

std::int64_t object_id(const InfoLine& line)
{
    constexpr std::int64_t limit = std::int64_t{1} << 62;
    const std::int64_t id = line.integer("id");
    if (id <= -limit || id >= limit)
        line.fail("id", "the id is too large");
    return id;
}

RankMap rank_map(const InfoLine& line, std::string_view key)
{
    try {
        return RankMap(line.text_or(key, ""));
    } catch (const std::invalid_argument& error) {
        line.fail(key, error.what());
    }
}

} // namespace hdtrace::merger
