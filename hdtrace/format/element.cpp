#include "hdtrace/format/element.h"

#include <bitset>
#include <charconv>
#include <unordered_map>

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

// Most names differ in their size, their first or their last letter.
bool are_equal(std::string_view one, std::string_view other)
{
    return one.size() == other.size() &&
           (one.empty() || (one.front() == other.front() && one.back() == other.back() && one == other));
}

const std::string* find_exactly(const Element& element, std::string_view name)
{
    for (const Attribute& attribute : element.attributes)
        if (are_equal(attribute.name, name))
            return &attribute.value;
    return nullptr;
}

using SpellingIndex = std::unordered_map<std::string_view, const Spellings*>;

SpellingIndex index_of_spellings()
{
    SpellingIndex index;
    for (const Spellings& spellings : same_meaning)
        for (const std::string_view spelling : spellings)
            index.emplace(spelling, &spellings);
    return index;
}

std::size_t bucket_of(std::string_view name)
{
    return name.empty() ? 0
                        : (name.size() * 289 + static_cast<unsigned char>(name.front()) * 17 +
                           static_cast<unsigned char>(name.back())) %
                              1024;
}

std::bitset<1024> buckets_of_spellings()
{
    std::bitset<1024> buckets;
    for (const Spellings& spellings : same_meaning)
        for (const std::string_view spelling : spellings)
            buckets.set(bucket_of(spelling));
    return buckets;
}

// Null for most names that are looked for in vain, which is seen by their bucket.
const Spellings* spellings_of(std::string_view name)
{
    static const std::bitset<1024> buckets = buckets_of_spellings();
    static const SpellingIndex index = index_of_spellings();
    if (!buckets.test(bucket_of(name)))
        return nullptr;
    const auto found = index.find(name);
    return found == index.end() ? nullptr : found->second;
}

} // namespace

std::string_view current_name(std::string_view name)
{
    const Spellings* const spellings = spellings_of(name);
    return spellings ? spellings->front() : name;
}

const std::string* Element::find(std::string_view name) const
{
    if (const std::string* value = find_exactly(*this, name))
        return value;
    if (const Spellings* const spellings = spellings_of(name))
        for (const std::string_view spelling : *spellings)
            if (const std::string* value = find_exactly(*this, spelling))
                return value;
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
