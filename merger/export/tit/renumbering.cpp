#include "merger/export/tit/renumbering.h"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>

#include "hdtrace/tools/file_error.h"

namespace hdtrace::exporter {
namespace {

/// How many words of a line stand before its tag; none if it has no tag.
std::size_t words_before_tag(std::string_view action)
{
    if (action == "send" || action == "isend" || action == "recv" || action == "irecv")
        return 3; // the rank, the action and the other rank
    return action == "wait" ? 4 : 0;
}

/// Where a word of a line begins.
std::size_t begin_of_word(std::string_view line, std::size_t words_before)
{
    std::size_t begin = 0;
    for (; words_before > 0; --words_before)
        begin = line.find(' ', begin) + 1;
    return begin;
}

} // namespace

void renumber_line(std::string_view line, const TagNumbers& numbers, TextOutput& output)
{
    const std::size_t action = begin_of_word(line, 1);
    const std::size_t words = words_before_tag(line.substr(action, line.find(' ', action) - action));
    if (words > 0) {
        const std::size_t begin = begin_of_word(line, words);
        std::int64_t tag = 0;
        const char* const end = std::from_chars(line.data() + begin, line.data() + line.size(), tag).ptr;
        output.text(line.substr(0, begin)).number(numbers.common(tag));
        line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    }
    output.text(line).text("\n");
}

void renumber_file(const OutputDirectory& directory, const std::string& name, const TagNumbers& numbers)
{
    const std::filesystem::path old = directory.temporary_path() / name;
    std::ifstream lines(old);
    std::filesystem::remove(old); // what was opened stays
    DirectoryFile file(directory, name);
    TextOutput output([&](std::string_view text) { file.write(text); });
    for (std::string line; std::getline(lines, line);)
        renumber_line(line, numbers, output);
    if (!lines.eof())
        throw tools::FileError(directory.path() / name, errno);
    output.flush();
    file.close();
}

} // namespace hdtrace::exporter
