#include "hdtrace/format/packed_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hdtrace/format/opened_file.h"

namespace hdtrace::detail {
namespace {

// The records of a ZIP file (PKWARE's APPNOTE) that lead to an entry's bytes, as far as we need them: how
// they begin, how long they are without names, and where in them numbers are.
constexpr std::string_view file_mark = "PK\3\4", entry_mark = "PK\1\2", end_mark = "PK\5\6",
                           large_end_mark = "PK\6\6", large_locator_mark = "PK\6\7";
constexpr std::size_t file_size = 30, entry_size = 46, end_size = 22, large_end_size = 56,
                      large_locator_size = 20;
constexpr std::size_t longest_comment = 65535;
constexpr std::uint16_t is_encrypted = 1, is_stored = 0, large_values = 1; // the last one is an extra field
constexpr std::uint64_t is_large_16 = 0xffff, is_large_32 = 0xffffffff;    // the value stands elsewhere

/// Bytes of a file.
class Bytes {
  public:
    explicit Bytes(std::string bytes) : m_bytes(std::move(bytes)) {}
    std::size_t size() const { return m_bytes.size(); }
    std::string_view text() const { return m_bytes; }
    bool begins(std::size_t at, std::string_view mark) const
    {
        return at <= size() && text().substr(at).starts_with(mark);
    }
    /// With the lowest byte first; 0 behind the end.
    template <int count> std::uint64_t number(std::size_t at) const
    {
        std::uint64_t value = 0;
        for (int i = 0; i < count && at + i < size(); ++i)
            value |= std::uint64_t{static_cast<unsigned char>(m_bytes[at + i])} << (8 * i);
        return value;
    }

  private:
    std::string m_bytes;
};

class PackedFile : public OpenedFile {
  public:
    explicit PackedFile(const std::string& path) : OpenedFile(path)
    {
        struct stat status;
        if (fstat(descriptor(), &status) != 0)
            throw OpenError(path, errno);
        m_size = static_cast<std::uint64_t>(status.st_size);
    }

    std::uint64_t size() const { return m_size; }
    /// Fewer at the end.
    Bytes read(std::uint64_t offset, std::uint64_t count) const
    {
        if (offset > size())
            fail();
        std::string bytes(std::min(count, size() - offset), '\0');
        bytes.resize(OpenedFile::read(static_cast<std::int64_t>(offset), bytes.data(), bytes.size()));
        return Bytes(std::move(bytes));
    }
    [[noreturn]] void fail(const std::string& why = "this packed file is damaged") const
    {
        throw ReadError(path(), 0, 0, why);
    }

  private:
    std::uint64_t m_size = 0;
};

struct Entry {
    std::uint64_t header = 0; ///< where its bytes are, behind a header
    std::uint64_t size = 0;
    bool is_stored_as_it_is = false;
    std::int64_t modified = 0; ///< in seconds; 0 is unknown
};

struct Directory {
    std::uint64_t begin = 0, size = 0;
};

Directory directory_of(const PackedFile& file)
{
    const std::uint64_t tail_begin =
        file.size() - std::min<std::uint64_t>(file.size(), end_size + longest_comment);
    const Bytes tail = file.read(tail_begin, file.size());
    const std::size_t end = tail.text().rfind(end_mark);
    if (end == std::string_view::npos || end + end_size > tail.size())
        file.fail("this packed file was cut off: its directory is missing");
    Directory directory = {tail.number<4>(end + 16), tail.number<4>(end + 12)};
    if (directory.begin != is_large_32 && directory.size != is_large_32 &&
        tail.number<2>(end + 10) != is_large_16)
        return directory;
    if (tail_begin + end < large_locator_size)
        file.fail();
    const Bytes locator = file.read(tail_begin + end - large_locator_size, large_locator_size);
    if (!locator.begins(0, large_locator_mark))
        return directory;
    const Bytes large = file.read(locator.number<8>(8), large_end_size);
    if (!large.begins(0, large_end_mark))
        file.fail();
    return {large.number<8>(48), large.number<8>(40)};
}

/// Takes values that are too large for their place from the extra field, where they follow each other.
void take_large_values(const Bytes& bytes, std::size_t begin, std::size_t end,
                       std::array<std::uint64_t*, 3> values)
{
    for (std::size_t size = 0; begin + 4 <= end; begin += 4 + size) {
        size = bytes.number<2>(begin + 2);
        if (bytes.number<2>(begin) != large_values)
            continue;
        std::size_t at = begin + 4;
        for (std::uint64_t* const value : values) {
            if (*value == is_large_32 && at + 8 <= std::min(end, begin + 4 + size)) {
                *value = bytes.number<8>(at);
                at += 8;
            }
        }
        return;
    }
}

/// From the extra field in which we and others write it (packing.py).
std::int64_t modified_in(const Bytes& bytes, std::size_t begin, std::size_t end)
{
    constexpr std::uint16_t unix_time = 0x5455;
    for (std::size_t size = 0; begin + 4 <= end; begin += 4 + size) {
        size = bytes.number<2>(begin + 2);
        if (bytes.number<2>(begin) == unix_time && size >= 5 && (bytes.number<1>(begin + 4) & 1))
            return static_cast<std::int32_t>(bytes.number<4>(begin + 5));
    }
    return 0;
}

using Entries = std::unordered_map<std::string, Entry>;

Entries read_entries(const PackedFile& file)
{
    const Directory directory = directory_of(file);
    const Bytes bytes = file.read(directory.begin, directory.size);
    Entries entries;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t name_size = bytes.number<2>(at + 28), extra_size = bytes.number<2>(at + 30);
        const std::size_t name = at + entry_size, extra = name + name_size,
                          next = extra + extra_size + bytes.number<2>(at + 32);
        if (!bytes.begins(at, entry_mark) || next > bytes.size())
            file.fail();
        std::uint64_t packed = bytes.number<4>(at + 20);
        Entry entry = {bytes.number<4>(at + 42), bytes.number<4>(at + 24)};
        take_large_values(bytes, extra, extra + extra_size, {&entry.size, &packed, &entry.header});
        entry.is_stored_as_it_is = bytes.number<2>(at + 10) == is_stored &&
                                   !(bytes.number<2>(at + 8) & is_encrypted) && packed == entry.size;
        entry.modified = modified_in(bytes, extra, extra + extra_size);
        entries.emplace(bytes.text().substr(name, name_size), entry);
        at = next;
    }
    return entries;
}

/// Packed files that were read, as long as they do not change.
class PackedFiles {
  public:
    std::shared_ptr<const Entries> entries_of(const std::string& path)
    {
        struct stat status;
        if (stat(path.c_str(), &status) != 0)
            throw OpenError(path, errno);
        const FileVersion now = version_of(status);
        const std::lock_guard lock(m_mutex);
        auto& [state, entries] = m_known[path];
        if (!entries || state != now) {
            entries = std::make_shared<const Entries>(read_entries(PackedFile(path)));
            state = now;
        }
        return entries;
    }

  private:
    std::mutex m_mutex;
    std::map<std::string, std::pair<FileVersion, std::shared_ptr<const Entries>>> m_known;
};

PackedFiles& packed_files()
{
    static PackedFiles files;
    return files;
}

bool is_regular_file(const std::string& path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

struct PathInFile {
    std::string file, name;
};

/// Nothing if the path does not lead through a file.
std::optional<PathInFile> path_in_file(const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0)
        return {};
    PathInFile parts = {path.substr(0, slash), path.substr(slash + 1)};
    return is_regular_file(parts.file) ? std::optional(std::move(parts)) : std::nullopt;
}

std::optional<Entry> entry_of(const PathInFile& path)
{
    const auto entries = packed_files().entries_of(path.file);
    const auto found = entries->find(path.name);
    return found == entries->end() ? std::nullopt : std::optional(found->second);
}

/// False if the packed file cannot be read.
bool is_packed(const std::string& path)
{
    try {
        const auto inside = path_in_file(path);
        return inside && entry_of(*inside);
    } catch (const ReadError&) {
        return false;
    } catch (const OpenError&) {
        return false;
    }
}

/// In a node file, unless it is there.
FilePlace place_beside(const std::string& path)
{
    struct stat status;
    if (stat(path.c_str(), &status) != 0 && errno == ENOENT)
        if (auto place = place_in_node_file(path))
            return {std::move(place->node_file),
                    0,
                    place->size,
                    std::move(place->extents),
                    place->node_file_size,
                    place->has_gap};
    return {path};
}

} // namespace

FilePlace place_of(const std::string& path)
{
    const auto inside = path_in_file(path);
    const auto entry = inside ? entry_of(*inside) : std::nullopt;
    if (!entry)
        return place_beside(path);
    const PackedFile file(inside->file);
    const Bytes header = file.read(entry->header, file_size);
    const std::uint64_t begin = entry->header + file_size + header.number<2>(26) + header.number<2>(28);
    if (!header.begins(0, file_mark) || !entry->is_stored_as_it_is || begin > file.size() ||
        entry->size > file.size() - begin)
        file.fail();
    return {inside->file, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(entry->size)};
}

bool may_lack_pieces(const FilePlace& place, std::int64_t known)
{
    return place.has_gap || (place.node_file_size > 0 && is_cut_off(place.path, known));
}

bool is_there(const std::string& path)
{
    return access(path.c_str(), F_OK) == 0 || (errno == ENOTDIR && is_packed(path)) ||
           (errno == ENOENT && is_in_node_file(path));
}

FileTime file_time(const std::string& path)
{
    constexpr std::int64_t second = 1'000'000'000;
    struct stat status;
    if (stat(path.c_str(), &status) == 0)
        return {status.st_size, status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec};
    const int reason = errno;
    if (const auto place = reason == ENOENT ? place_in_node_file(path) : std::nullopt)
        return {place->size, place->modified};
    const auto inside = reason == ENOTDIR ? path_in_file(path) : std::nullopt;
    const auto entry = inside ? entry_of(*inside) : std::nullopt;
    if (!entry)
        throw OpenError(path, reason);
    return {static_cast<std::int64_t>(entry->size), entry->modified * second};
}

bool is_file(const std::string& path)
{
    struct stat status;
    if (stat(path.c_str(), &status) == 0)
        return S_ISREG(status.st_mode);
    return (errno == ENOTDIR && is_packed(path)) || (errno == ENOENT && is_in_node_file(path));
}

std::vector<std::string> names_in_directory(const std::string& directory)
{
    namespace fs = std::filesystem;
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory.empty() ? "." : directory)) {
        std::error_code ignored;
        if (!entry.is_regular_file(ignored))
            continue;
        names.insert(entry.path().filename().string());
        if (is_node_file(entry.path().string()))
            for (const std::string& path : paths_in_node_file(entry.path().string()))
                names.insert(fs::path(path).filename().string());
    }
    return {names.begin(), names.end()};
}

bool is_packed_file(const std::string& path)
{
    if (!is_regular_file(path))
        return false;
    const Bytes beginning = PackedFile(path).read(0, file_mark.size());
    return beginning.begins(0, file_mark);
}

std::vector<std::string> packed_names(const std::string& path)
{
    std::vector<std::string> names;
    for (const auto& [name, entry] : *packed_files().entries_of(path)) {
        if (!entry.is_stored_as_it_is)
            throw ReadError(
                path, 0, 0,
                name + " is not stored in it as it is, so it cannot be read here: unpack it, as with unzip");
        names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
}

} // namespace hdtrace::detail
