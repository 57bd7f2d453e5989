#include "hdtrace/calls/calls.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <vector>

namespace hdtrace {
namespace {

constexpr CallFacts calls[] = {
#define HDT_CALL(...) CallFacts{__VA_ARGS__},
#include "hdtrace/calls/facts.inc"
};

constexpr Reference references[] = {
#define HDT_REFERENCE(attribute, kind) {attribute, kind},
#include "hdtrace/calls/facts.inc"
};

struct RankAttribute {
    std::string_view call;
    std::string_view attribute;
};

constexpr RankAttribute rank_attributes[] = {
#define HDT_RANK(call, attribute) {call, attribute},
#include "hdtrace/calls/facts.inc"
};

struct Class {
    std::string_view name;
    CallClass call_class;
};

/// In the order of the enumeration.
constexpr Class classes[] = {
#define HDT_CLASS(word, enumerator) {word, enumerator},
#include "hdtrace/calls/facts.inc"
};

/// In the order of the enumeration.
constexpr std::string_view objects[] = {
#define HDT_OBJECT(word, enumerator) word,
#include "hdtrace/calls/facts.inc"
};

constexpr CallFacts event = {.name = "Event", .operation = "Event", .call_class = CallClass::event};
constexpr CallFacts no_call;

/// The calls by their names, in twice as many places as there are calls or more.
class CallIndex {
  public:
    CallIndex()
    {
        for (const CallFacts& facts : calls) {
            const Ends ends = ends_of(facts.name);
            std::size_t place = first_place(ends);
            while (m_entries[place].facts)
                place = (place + 1) % m_entries.size();
            m_entries[place] = {ends, &facts};
        }
    }

    const CallFacts* find(std::string_view name) const
    {
        const Ends ends = ends_of(name);
        for (std::size_t place = first_place(ends); m_entries[place].facts;
             place = (place + 1) % m_entries.size())
            if (m_entries[place].ends == ends && (is_all(ends) || m_entries[place].facts->name == name))
                return m_entries[place].facts;
        return nullptr;
    }

  private:
    static constexpr int width = std::bit_width(2 * std::size(calls));

    /// Up to eight bytes of the beginning of a name and of its end, which may overlap: all of most names.
    struct Ends {
        std::uint64_t first;
        std::uint64_t last;
        std::size_t size;
        bool operator==(const Ends&) const = default;
    };
    struct Entry {
        Ends ends;
        const CallFacts* facts;
    };

    template <class Word> static Ends ends_by(std::string_view name)
    {
        Word first, last;
        std::memcpy(&first, name.data(), sizeof first);
        std::memcpy(&last, name.data() + name.size() - sizeof last, sizeof last);
        return {first, last, name.size()};
    }
    static Ends ends_of(std::string_view name)
    {
        if (name.size() >= sizeof(std::uint64_t))
            return ends_by<std::uint64_t>(name);
        if (name.size() >= sizeof(std::uint32_t))
            return ends_by<std::uint32_t>(name);
        if (name.size() >= sizeof(std::uint16_t))
            return ends_by<std::uint16_t>(name);
        return name.empty() ? Ends{} : ends_by<std::uint8_t>(name);
    }
    static bool is_all(const Ends& ends) { return ends.size <= sizeof ends.first + sizeof ends.last; }
    static std::size_t first_place(const Ends& ends)
    {
        constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
        return ((ends.first ^ (ends.last + ends.size) * spread) * spread) >> (64 - width);
    }

    std::array<Entry, std::size_t{1} << width> m_entries{};
};

using RankIndex = std::unordered_map<std::string_view, std::vector<std::string_view>>;

RankIndex index_of_ranks()
{
    RankIndex index;
    for (const auto& [call, attribute] : rank_attributes)
        index[call].push_back(attribute);
    return index;
}

using ReferenceIndex = std::unordered_map<std::string_view, ObjectKind>;

ReferenceIndex index_of_references()
{
    ReferenceIndex index;
    for (const Reference& reference : references)
        index.emplace(reference.attribute, reference.kind);
    return index;
}

} // namespace

const CallFacts* find_call(std::string_view name)
{
    static const CallIndex index;
    if (const CallFacts* const found = index.find(name))
        return found;
    constexpr std::string_view large = "_c";
    return name.ends_with(large) ? find_call(name.substr(0, name.size() - large.size())) : nullptr;
}

const CallFacts& facts_of(std::string_view name)
{
    const CallFacts* facts = find_call(name);
    return facts ? *facts : name == event.name ? event : no_call;
}

std::span<const CallFacts> all_calls()
{
    return calls;
}

CallClass class_of(std::string_view name)
{
    return facts_of(name).call_class;
}

std::string_view class_name(CallClass call_class)
{
    return classes[static_cast<std::size_t>(call_class)].name;
}

std::optional<CallClass> find_class(std::string_view name)
{
    const auto found = std::ranges::find(classes, name, &Class::name);
    return found == std::end(classes) ? std::nullopt : std::optional(found->call_class);
}

std::string_view object_name(ObjectKind kind)
{
    return objects[static_cast<std::size_t>(kind)];
}

std::span<const Reference> all_references()
{
    return references;
}

std::optional<ObjectKind> find_reference(std::string_view attribute)
{
    static const ReferenceIndex index = index_of_references();
    const auto found = index.find(attribute);
    return found == index.end() ? std::nullopt : std::optional(found->second);
}

std::span<const std::string_view> rank_attributes_of(std::string_view name)
{
    static const RankIndex ranks = index_of_ranks();
    const auto found = ranks.find(facts_of(name).name);
    return found == ranks.end() ? std::span<const std::string_view>() : found->second;
}

} // namespace hdtrace
