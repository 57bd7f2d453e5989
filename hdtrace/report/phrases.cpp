#include "hdtrace/report/phrases.h"

#include <algorithm>
#include <cstdlib>

namespace hdtrace::report {
namespace {

constexpr std::size_t most_children = 12;
// Numbers of JavaScript are exact up to here.
constexpr std::int64_t largest = std::int64_t{1} << 53;

std::string label_of(const Datatype& type)
{
    for (const Attribute& attribute : type.attributes)
        if (attribute.name == "name")
            return std::string(attribute.value);
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

std::string Phrases::meaning(std::int64_t rank, std::string_view attribute, std::int64_t id) const
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

void Phrases::add(std::int64_t rank, std::string_view child, const Attribute& attribute,
                  std::optional<std::int64_t> number)
{
    const bool fits = number && *number > -largest && *number < largest;
    std::string object = fits ? meaning(rank, attribute.name, *number) : std::string();
    const bool is_number = fits && object.empty();
    append(m_key, attribute.name);
    if (is_number) {
        m_values.push_back(*number);
    } else {
        append(m_key, attribute.value);
        append(m_key, object);
    }
    m_phrase.words.push_back({std::string(child), std::string(attribute.name), is_number,
                              is_number ? std::string() : std::string(attribute.value), std::move(object)});
}

void Phrases::add(std::int64_t rank, const Element& element, std::string_view child)
{
    append(m_key, child);
    for (std::size_t i = 0; i < element.attributes.size(); ++i)
        if (const Attribute attribute = element.attributes[i]; attribute.name != "site")
            add(rank, child, attribute, element.attributes.number(i));
    m_key += '\1';
}

std::pair<std::uint32_t, const std::vector<std::int64_t>&> Phrases::say(const Call& call)
{
    m_key.clear();
    m_values.clear();
    m_phrase = {call.state.name, call.facts.call_class, {}, 0};
    append(m_key, call.state.name);
    add(call.trace.rank, call.state, {});
    const std::size_t told = std::min(call.state.children.size(), most_children);
    for (std::size_t i = 0; i < told; ++i)
        add(call.trace.rank, call.state.children[i], call.state.children[i].name);
    m_phrase.left_out = static_cast<std::int64_t>(call.state.children.size() - told);
    m_key += std::to_string(m_phrase.left_out);
    const auto [found, is_new] = m_numbers.try_emplace(m_key, static_cast<std::uint32_t>(m_phrases.size()));
    if (is_new)
        m_phrases.push_back(m_phrase);
    return {found->second, m_values};
}

} // namespace hdtrace::report
