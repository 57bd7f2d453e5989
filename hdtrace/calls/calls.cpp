#include "hdtrace/calls/calls.h"

#include <algorithm>
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

using CallIndex = std::unordered_map<std::string_view, const CallFacts*>;

CallIndex index_of_calls()
{
    CallIndex index;
    for (const CallFacts& facts : calls)
        index.emplace(facts.name, &facts);
    return index;
}

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
    static const CallIndex index = index_of_calls();
    if (const auto found = index.find(name); found != index.end())
        return found->second;
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
