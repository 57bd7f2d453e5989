// A node file, as text: each piece begins with a line "@" and the numbers of its head (a missing position is
// that of a name), and goes on with its bytes; "#" in place of "@": bytes without a head. Whatever the heads
// say, all files in it can be read, also while it grows.
#include "hdtrace/format/file.h"
#include "hdtrace/format/node_file.h"
#include "hdtrace/node_file_form.h"
#include "tests/fuzz/input_folder.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace hdtrace;

namespace {

std::string head_of_file()
{
    char head[node_head_size];
    std::memcpy(head, node_file_mark, sizeof node_file_mark);
    put_little_endian(head + sizeof node_file_mark, 0);
    return {head, sizeof head};
}

std::string head_from(std::string_view line)
{
    std::vector<std::uint64_t> values;
    while (!line.empty() && values.size() < node_piece_values) {
        std::uint64_t value = 0;
        const char* const end = std::from_chars(line.data(), line.data() + line.size(), value).ptr;
        values.push_back(end == line.data() ? begin_of_stream : value);
        line.remove_prefix(std::min<std::size_t>(end - line.data() + 1, line.size()));
    }
    values.resize(node_piece_values);
    char head[node_piece_size];
    put_node_piece(head, {values[0], values[1], values[2], values[3], values[4]});
    return {head, sizeof head};
}

std::vector<std::string> pieces_from(std::string_view input)
{
    std::vector<std::string> pieces;
    while (!input.empty()) {
        const std::size_t line_end = std::min(input.find('\n'), input.size());
        const std::string_view line = input.substr(0, line_end);
        input.remove_prefix(std::min(line_end + 1, input.size()));
        const std::size_t end = std::min(input.find_first_of("@#"), input.size());
        pieces.push_back((line.starts_with('@') ? head_from(line.substr(1)) : std::string()) +
                         std::string(input.substr(0, end)));
        input.remove_prefix(end);
    }
    return pieces;
}

/// The parts of a file follow each other, and are there.
void check_place(const detail::NodePlace& place, std::int64_t node_file_size)
{
    std::int64_t end = 0;
    for (const detail::Extent& part : place.extents) {
        if (part.begin != end || part.size <= 0 || part.offset < 0 ||
            part.offset > node_file_size - part.size)
            std::abort();
        end += part.size;
    }
    if (end != place.size)
        std::abort();
}

void read_all(const std::string& node_file)
{
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(node_file));
    for (const std::string& path : detail::paths_in_node_file(node_file)) {
        const auto place = detail::place_in_node_file(path);
        if (!place)
            std::abort();
        check_place(*place, size);
        detail::File file(path);
        std::string text(1 << 12, '\0');
        while (file.read(text.data(), text.size()) > 0) {
        }
    }
    detail::living_files(node_file, "");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const fuzz::InputFolder folder;
    const std::vector<std::string> pieces = pieces_from(fuzz::as_text(data, size));
    std::string bytes = head_of_file();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        bytes += pieces[i];
        if (i == pieces.size() / 2)
            read_all(folder.write("app_host.node", bytes.substr(0, bytes.size() - pieces[i].size() / 2)));
    }
    read_all(folder.write("app_host.node", bytes));
    return 0;
}
