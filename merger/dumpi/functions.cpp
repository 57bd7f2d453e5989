#include "merger/dumpi/functions.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace hdtrace::dumpi {
namespace {

struct Row {
    std::uint16_t label;
    std::string_view name;
    std::string_view arguments;
};

constexpr Row rows[] = {
#define HDT_DUMPI(label, name, arguments) {label, name, arguments},
#include "merger/dumpi/functions.inc"
};

struct Twin {
    std::string_view name;
    std::string_view of;
};

constexpr Twin twins[] = {
#define HDT_TWIN(name, of) {name, of},
#include "merger/dumpi/twins.inc"
};

struct CodeRow {
    std::string_view word;
    int width;
};

/// In the order of Code.
constexpr CodeRow codes[] = {
    {"i", 4},  {"l", 8},  {"rk", 4}, {"tg", 4}, {"dt", 2}, {"cm", 2}, {"gr", 2}, {"fl", 2}, {"wn", 2},
    {"nf", 2}, {"eh", 2}, {"kv", 2}, {"op", 1}, {"rq", 4}, {"fm", 1}, {"lk", 1}, {"as", 1}, {"tp", 1},
    {"cb", 1}, {"cp", 1}, {"od", 1}, {"ds", 1}, {"th", 1}, {"tc", 1}, {"wh", 1}, {"s", 0},  {"st", 0},
};

/// In the order of Special.
constexpr std::string_view specials[] = {
    "",         "me",       "members", "received", "transferred", "request", "status", "count",
    "requests", "statuses", "ended",   "index",    "indices",     "argv",    "argvs",  "processes",
    "color",    "position", "own",     "new",      "last",        "nothing",
};

/// What stands before @p separator, which is taken from the text with it.
std::string_view take(std::string_view& text, char separator)
{
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    return part;
}

bool take_prefix(std::string_view& text, std::string_view prefix)
{
    const bool has_it = text.starts_with(prefix);
    text.remove_prefix(has_it ? prefix.size() : 0);
    return has_it;
}

template <class Words, class Word> std::size_t place_of(const Words& words, std::string_view word, Word get)
{
    const auto found = std::ranges::find(words, word, get);
    if (found == std::end(words))
        throw std::logic_error("the table of DUMPI's functions has " + std::string(word));
    return static_cast<std::size_t>(found - std::begin(words));
}

Source source_of(std::string_view text)
{
    if (text == "!")
        return {};
    if (take_prefix(text, "$")) {
        const auto place = place_of(specials, text, [](std::string_view word) { return word; });
        return {.kind = SourceKind::special, .special = static_cast<Special>(place)};
    }
    if (take_prefix(text, "~"))
        return {.kind = SourceKind::undefined, .name = text};
    if (take_prefix(text, "#"))
        return {.kind = SourceKind::element_count, .name = text};
    if (take_prefix(text, "@"))
        return {.kind = SourceKind::text_length, .name = text};
    if (take_prefix(text, "type:"))
        return {.kind = SourceKind::type_attribute, .name = text};
    if (take_prefix(text, "type*"))
        return {.kind = SourceKind::type_rows, .name = text};
    if (std::int32_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc())
        return {.kind = SourceKind::number, .number = number};
    for (const auto& [separator, kind] :
         {std::pair('*', SourceKind::children), std::pair('.', SourceKind::member_children)})
        if (text.find(separator) != std::string_view::npos) {
            const std::string_view child = take(text, separator);
            return {.kind = kind, .name = text, .child = child};
        }
    return {.kind = SourceKind::attribute, .name = text};
}

Argument argument_of(std::string_view text)
{
    Argument argument;
    argument.at_root = take_prefix(text, "?");
    argument.is_result = take_prefix(text, "^");
    argument.name = take(text, ':');
    std::string_view code = take(text, '=');
    for (; code.ends_with("[]"); code.remove_suffix(2))
        ++argument.dimensions;
    argument.code = static_cast<Code>(place_of(codes, code, &CodeRow::word));
    while (!text.empty())
        argument.sources.push_back(source_of(take(text, '|')));
    return argument;
}

std::vector<Function> parsed()
{
    std::vector<Function> all;
    for (const Row& row : rows) {
        Function function{row.label, row.name, {}};
        for (std::string_view rest = row.arguments; !rest.empty();)
            function.arguments.push_back(argument_of(take(rest, ' ')));
        all.push_back(std::move(function));
    }
    return all;
}

using Index = std::unordered_map<std::string_view, const Function*>;

Index by_name()
{
    Index index;
    for (const Function& function : functions())
        index.emplace(function.name, &function);
    return index;
}

} // namespace

int width_of(Code code)
{
    return codes[static_cast<std::size_t>(code)].width;
}

std::span<const Function> functions()
{
    static const std::vector<Function> all = parsed();
    return all;
}

const Function* find_function(std::uint16_t label)
{
    const auto found = std::ranges::lower_bound(functions(), label, {}, &Function::label);
    return found == functions().end() || found->label != label ? nullptr : &*found;
}

const Function* find_function(std::string_view name)
{
    static const Index index = by_name();
    const auto found = index.find(name);
    return found == index.end() ? nullptr : found->second;
}

const Function* find_twin(std::string_view name)
{
    const auto found = std::ranges::find(twins, name, &Twin::name);
    return found == std::end(twins) ? nullptr : find_function(found->of);
}

} // namespace hdtrace::dumpi
