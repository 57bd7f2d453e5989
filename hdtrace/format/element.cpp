#include "hdtrace/format/element.h"

#include <algorithm>
#include <charconv>

namespace hdtrace {
namespace {

using Spellings = std::vector<std::string_view>;

// Names that mean the same: ours first, then those of older traces.
const Spellings same_meaning[] = {
    {"fid", "file"},
    {"rid", "aid", "request"},
    {"cid", "comm"},
    {"tid", "type", "sendTid"},
    {"recvtid", "recvTid", "recvType"},
    {"etid", "etype"},
    {"filetid", "filetype"},
    {"oldTid", "from_type"},
    {"rootRank", "root"},
    {"fromRank", "source"},
    {"fromTag", "tag"},
    {"size", "sendSize"},
};

const std::string* find_exactly(const Element& element, std::string_view name)
{
    const auto found = std::ranges::find(element.attributes, name, &Attribute::name);
    return found == element.attributes.end() ? nullptr : &found->value;
}

} // namespace

std::string_view current_name(std::string_view name)
{
    for (const Spellings& spellings : same_meaning)
        if (std::ranges::find(spellings, name) != spellings.end())
            return spellings.front();
    return name;
}

const std::string* Element::find(std::string_view name) const
{
    if (const std::string* value = find_exactly(*this, name))
        return value;
    for (const Spellings& spellings : same_meaning) {
        if (std::ranges::find(spellings, name) == spellings.end())
            continue;
        for (std::string_view spelling : spellings)
            if (const std::string* value = find_exactly(*this, spelling))
                return value;
    }
    return nullptr;
}

std::optional<std::int64_t> Element::integer(std::string_view name) const
{
    const std::string* value = find(name);
    if (!value)
        return {};
    std::int64_t number = 0;
    const char* const text_end = value->data() + value->size();
    const auto [end, error] = std::from_chars(value->data(), text_end, number);
    if (error != std::errc() || end != text_end)
        return {};
    return number;
}

} // namespace hdtrace
