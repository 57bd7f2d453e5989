#include "merger/import/otf2/anchor.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>

#include "merger/import/source.h"

namespace hdtrace::importer::otf2 {

namespace {

// Byte order, magic, versions, sizes of chunks, forms of the files, numbers of locations and definitions;
// then the texts: machine, creator, description.
constexpr std::size_t place_of_byte_order = 1;
constexpr std::size_t place_of_version = 7;
constexpr std::size_t place_of_texts = 46;
constexpr int texts = 3;
constexpr char little_endian = 'B';
constexpr std::uint8_t first_version_with_properties = 2;
constexpr std::size_t size_of_number = 4;
constexpr std::size_t least_size_of_property = 2; // the ends of its name and of its value

std::uint32_t number_at(std::string_view file, std::size_t place)
{
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size_of_number; ++i) {
        const std::size_t byte = file[place_of_byte_order] == little_endian ? size_of_number - 1 - i : i;
        number = number << 8 | static_cast<std::uint8_t>(file[place + byte]);
    }
    return number;
}

} // namespace

void check_anchor(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(stream), {}};
    std::size_t place = place_of_texts;
    for (int i = 0; i < texts && place < file.size(); ++i)
        place = std::min(file.find('\0', place), file.size() - 1) + 1;
    if (file.size() < place + size_of_number || file[place_of_version] < first_version_with_properties)
        return; // the library says what it thinks of it
    const std::uint32_t properties = number_at(file, place);
    if (properties > (file.size() - place - size_of_number) / least_size_of_property)
        throw ImportError(path, place,
                          "it has no room for the " + std::to_string(properties) +
                              " properties that it says it has");
}

} // namespace hdtrace::importer::otf2
