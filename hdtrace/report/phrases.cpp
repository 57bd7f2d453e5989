#include "hdtrace/report/phrases.h"

#include <algorithm>
#include <cstdlib>

#include "hdtrace/analysis/call_text.h"

namespace hdtrace::report {
namespace {

constexpr std::size_t most_children = 12;
// Numbers of JavaScript are exact up to four times this. So much needs the difference of two numbers, packed
// with its sign.
constexpr std::int64_t largest = std::int64_t{1} << 51;

std::string_view label_of(const Datatype& type)
{
    for (const Attribute& attribute : type.attributes)
        if (attribute.name == "name")
            return attribute.value;
    return type.combiner;
}

void append(std::string& key, std::string_view text)
{
    key += text;
    key += '\0';
}

} // namespace

std::size_t Phrase::numbers() const
{
    return static_cast<std::size_t>(std::ranges::count(words, true, &Word::is_number));
}

std::string_view Phrases::meaning(std::int64_t rank, std::string_view attribute, std::int64_t id) const
{
    const auto kind = find_reference(attribute);
    if (!kind)
        return {};
    const ObjectTable& objects = m_project.objects;
    const Project& project = m_project.project;
    if (*kind == ObjectKind::communicator)
        if (const Communicator* const found = objects.communicator(rank, id))
            return m_project.label_of(*found);
    if (*kind == ObjectKind::file)
        if (const ProjectFile* const found = objects.file(rank, id))
            return m_project.file_labels[static_cast<std::size_t>(position_in(project.files, *found))];
    if (*kind == ObjectKind::window)
        if (const Window* const found = objects.window(rank, id))
            return m_project.window_labels[static_cast<std::size_t>(position_in(project.windows, *found))];
    if (*kind == ObjectKind::datatype)
        if (const Datatype* const found = objects.datatype(rank, id))
            return label_of(*found);
    return {};
}

/// What is told of a call, one after the other: @p begin_element(child) for the call itself, whose name is
/// empty, and for its child elements, then @p add(child, attribute, number, meaning) for each of its
/// attributes. What has a number is told with each call. Returns how many child elements are not told.
std::int64_t Phrases::for_each_word(const Call& call, auto begin_element, auto add) const
{
    const auto tell = [&](const Element& element, std::string_view child) {
        begin_element(child);
        for (std::size_t i = 0; i < element.attributes.size(); ++i) {
            const Attribute attribute = element.attributes[i];
            if (attribute.name == "site" || is_for_checks(attribute.name))
                continue;
            std::optional<std::int64_t> number = element.attributes.number(i);
            std::string_view object;
            if (number && (*number <= -largest || *number >= largest))
                number.reset();
            if (number)
                object = meaning(call.trace.rank, attribute.name, *number);
            if (!object.empty())
                number.reset();
            add(child, attribute, number, object);
        }
    };
    const std::vector<Element>& children = call.state.children;
    const std::size_t told = std::min(children.size(), most_children);
    tell(call.state, {});
    for (std::size_t i = 0; i < told; ++i)
        tell(children[i], children[i].name);
    return static_cast<std::int64_t>(children.size() - told);
}

void Phrases::identify(const Call& call)
{
    m_key.clear();
    m_values.clear();
    append(m_key, call.state.name);
    const std::int64_t left_out = for_each_word(
        call,
        [this](std::string_view child) {
            m_key += '\1';
            append(m_key, child);
        },
        [this](std::string_view, const Attribute& attribute, std::optional<std::int64_t> number,
               std::string_view object) {
            append(m_key, attribute.name);
            if (number) {
                m_values.push_back(*number);
            } else {
                append(m_key, attribute.value);
                append(m_key, object);
            }
        });
    if (left_out > 0)
        m_key += std::to_string(left_out);
}

Phrase Phrases::phrase_of(const Call& call) const
{
    Phrase phrase{call.state.name, call.facts.call_class, {}, 0};
    phrase.left_out = for_each_word(
        call, [](std::string_view) {},
        [&](std::string_view child, const Attribute& attribute, std::optional<std::int64_t> number,
            std::string_view object) {
            phrase.words.push_back({std::string(child), std::string(attribute.name), number.has_value(),
                                    number ? std::string() : std::string(attribute.value),
                                    std::string(object)});
        });
    return phrase;
}

std::pair<std::uint32_t, const std::vector<std::int64_t>&> Phrases::say(const Call& call)
{
    identify(call);
    const auto [found, is_new] = m_numbers.try_emplace(m_key, static_cast<std::uint32_t>(m_phrases.size()));
    if (is_new)
        m_phrases.push_back(phrase_of(call));
    return {found->second, m_values};
}

} // namespace hdtrace::report
