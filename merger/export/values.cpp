#include "merger/export/values.h"

#include <charconv>

namespace hdtrace::exporter {

std::optional<std::int64_t> find_integer(const Element& element, std::string_view name)
{
    const std::string* text = element.find(name);
    if (text == nullptr)
        return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    const bool is_number = error == std::errc() && end == text->data() + text->size();
    return is_number ? std::optional(value) : std::nullopt;
}

} // namespace hdtrace::exporter
