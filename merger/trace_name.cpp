#include "merger/trace_name.h"

#include "hdtrace/format/compressed.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace hdtrace::merger {

const std::vector<std::string> mpi_levels = {"Hostname", "Rank", "Thread"};

std::string TraceName::path(std::string_view extension) const
{
    std::string text = directory + base;
    for (const std::string& label : labels)
        text += "_" + label;
    return text.append(extension);
}

std::string_view directory_of(std::string_view path)
{
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1);
}

std::optional<TraceName> split_trace_name(std::string_view path, std::size_t label_count)
{
    TraceName name;
    name.directory = directory_of(path);
    std::string_view stem = detail::plain_name(path).substr(name.directory.size());
    stem = stem.substr(0, stem.rfind('.'));
    for (std::size_t i = 0; i < label_count; ++i) {
        const std::size_t separator = stem.rfind('_');
        if (separator == std::string_view::npos)
            return std::nullopt;
        name.labels.emplace_back(stem.substr(separator + 1));
        stem = stem.substr(0, separator);
    }
    std::ranges::reverse(name.labels);
    name.base = stem;
    return name;
}

std::optional<std::int64_t> label_number(std::string_view label)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
    if (error != std::errc{} || end != label.data() + label.size() || number < 0)
        return std::nullopt;
    return number;
}

std::string file_label(std::string_view name)
{
    std::string label(name);
    std::ranges::replace_if(
        label,
        [](char c) {
            return !((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
                     c == '-');
        },
        '-');
    if (label.starts_with('-'))
        label[0] = 'x';
    return label;
}

std::string canonical_directory(std::string_view path)
{
    namespace fs = std::filesystem;
    const std::string_view directory = directory_of(path);
    std::error_code ignored;
    return fs::weakly_canonical(directory.empty() ? "." : directory, ignored).string();
}

} // namespace hdtrace::merger
