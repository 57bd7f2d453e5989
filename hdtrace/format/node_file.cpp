#include "hdtrace/format/node_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "hdtrace/format/opened_file.h"
#include "hdtrace/node_file_form.h"

namespace hdtrace::detail {
namespace {

constexpr std::string_view suffix = node_file_suffix;

struct Stream {
    /// As its pieces tell it. That of a process which has ended may come again.
    std::uint64_t number = 0;
    std::vector<Extent> data;
    std::int64_t data_end = 0;
    Extent rest;           ///< behind the data, as it was written with the last of them
    std::int64_t over = 0; ///< where a piece stands that is written over; 0: there is none
    bool has_gap = false;  ///< a piece of data is missing before others

    void add(const NodePiece& piece, std::int64_t offset)
    {
        const auto size = static_cast<std::int64_t>(piece.size);
        data.push_back({data_end, size, offset});
        data_end += size;
        rest = {data_end, static_cast<std::int64_t>(piece.rest), offset + size};
    }
};

/// What is known of a node file, which may grow.
class NodeFileIndex {
  public:
    explicit NodeFileIndex(const std::string& path) : m_path(path) {}

    /// Reads what is new.
    void update(const struct stat& status)
    {
        const FileVersion now = version_of(status);
        if (m_state == now)
            return;
        const OpenedFile file(m_path);
        if (is_another(file, status)) {
            m_streams.clear();
            m_by_number.clear();
            m_by_name.clear();
            m_next = 0;
        }
        m_known_size = status.st_size;
        read_pieces(file);
        m_state = now; // where reading fails, the next one tries again
    }

    bool ends_within_piece() const { return m_next > 0 && m_next < m_known_size; }
    bool has(const std::string& name) const { return m_by_name.contains(name); }

    /// In their order; nothing if there is no file of that name.
    std::optional<std::vector<Extent>> extents_of(const std::string& name) const
    {
        const auto found = m_by_name.find(name);
        if (found == m_by_name.end())
            return {};
        const Stream& stream = m_streams[found->second];
        std::vector<Extent> extents = stream.data;
        if (const Extent rest = rest_of(stream); rest.size > 0)
            extents.push_back(rest);
        return extents;
    }
    /// Of the stream that is the file of that name.
    std::optional<std::uint64_t> number_of(const std::string& name) const
    {
        const auto found = m_by_name.find(name);
        return found == m_by_name.end() ? std::nullopt : std::optional(m_streams[found->second].number);
    }
    bool has_gap(const std::string& name) const { return m_streams[m_by_name.at(name)].has_gap; }
    /// Each with the number of its stream.
    std::vector<std::pair<std::string, std::uint64_t>> names() const
    {
        std::vector<std::pair<std::string, std::uint64_t>> names;
        for (const auto& [name, stream] : m_by_name)
            names.emplace_back(name, m_streams[stream].number);
        return names;
    }

  private:
    /// What is written over has no place that stays true, so it is looked up each time.
    Extent rest_of(const Stream& stream) const
    {
        NodePiece piece = {};
        if (stream.over > 0 && read_head(OpenedFile(m_path), stream.over, piece) && is_possible(piece) &&
            piece.stream == stream.number && piece.position == static_cast<std::uint64_t>(stream.data_end))
            return {stream.data_end, static_cast<std::int64_t>(piece.rest), stream.over + node_piece_size};
        return stream.rest;
    }

    /// Another run may have begun it anew, with the run's name and with which process first.
    bool is_another(const OpenedFile& file, const struct stat& status)
    {
        std::string beginning(end_of_head(file) + node_piece_size, '\0');
        beginning.resize(file.read(0, beginning.data(), beginning.size()));
        const std::string before = std::exchange(m_beginning, beginning);
        return status.st_size < m_known_size || !beginning.starts_with(before);
    }

    void read_pieces(const OpenedFile& file)
    {
        if (m_next == 0)
            m_next = end_of_head(file);
        while (m_next > 0 && m_next + node_piece_size <= m_known_size) {
            NodePiece piece = {};
            const auto end = read_piece(file, m_next, piece);
            if (!end && is_torn_at_end(file))
                return;
            if (end)
                add(file, piece);
            m_next = end ? *end : next_piece(file, m_next + 1);
        }
    }

    /// 0 if it is not there yet, or if this is something else.
    std::int64_t end_of_head(const OpenedFile& file) const
    {
        char head[node_head_size];
        if (file.read(0, head, sizeof head) < sizeof head)
            return 0;
        const std::uint64_t name_size = get_little_endian(head + sizeof node_file_mark);
        if (std::memcmp(head, node_file_mark, sizeof node_file_mark) != 0 || name_size > longest_run_name)
            return 0;
        return node_head_size + static_cast<std::int64_t>(name_size);
    }

    /// Where a whole piece ends; nothing if there is none. One that was written only in part may have another
    /// one where its room is.
    std::optional<std::int64_t> read_piece(const OpenedFile& file, std::int64_t at, NodePiece& piece) const
    {
        if (!read_head(file, at, piece) || !is_possible(piece))
            return {};
        const std::int64_t begin = at + node_piece_size;
        if (piece.room > static_cast<std::uint64_t>(std::max<std::int64_t>(m_known_size - begin, 0)))
            return {};
        const std::int64_t end = begin + static_cast<std::int64_t>(piece.room);
        NodePiece next;
        if (!read_head(file, end, next) && next_piece(file, begin) < end)
            return {};
        return end;
    }

    static bool read_head(const OpenedFile& file, std::int64_t at, NodePiece& piece)
    {
        char head[node_piece_size];
        return file.read(at, head, sizeof head) == sizeof head && get_node_piece(head, piece);
    }

    static bool is_possible(const NodePiece& piece)
    {
        return piece.size <= piece.room && piece.rest <= piece.room - piece.size;
    }

    /// Whether the last piece is being written, or was when its process was killed.
    bool is_torn_at_end(const OpenedFile& file) const { return next_piece(file, m_next + 1) >= m_known_size; }

    /// Where the mark of a piece stands next; the end of the file if none does.
    std::int64_t next_piece(const OpenedFile& file, std::int64_t from) const
    {
        constexpr std::size_t at_once = 1 << 16;
        const std::string_view mark(node_piece_mark, sizeof node_piece_mark);
        std::string bytes(at_once, '\0');
        while (from < m_known_size) {
            const std::string_view there(bytes.data(), file.read(from, bytes.data(), bytes.size()));
            for (std::size_t at = there.find(mark); at != there.npos; at = there.find(mark, at + 1)) {
                NodePiece ignored;
                const auto place = from + static_cast<std::int64_t>(at);
                if (read_head(file, place, ignored))
                    return place;
            }
            if (there.size() < bytes.size())
                break;
            from += static_cast<std::int64_t>(there.size() - mark.size() + 1);
        }
        return m_known_size;
    }

    void add(const OpenedFile& file, const NodePiece& piece)
    {
        constexpr std::uint64_t longest_name = 4096;
        const std::int64_t begin = m_next + node_piece_size;
        if (piece.position != begin_of_stream) {
            const auto found = m_by_number.find(piece.stream);
            if (found == m_by_number.end())
                return;
            Stream& stream = m_streams[found->second];
            if (piece.size == 0)
                stream.over = m_next;
            else if (piece.position == static_cast<std::uint64_t>(stream.data_end))
                stream.add(piece, begin);
            else if (piece.position > static_cast<std::uint64_t>(stream.data_end))
                stream.has_gap = true;
            return;
        }
        std::string name(std::min(piece.size, longest_name), '\0');
        name.resize(file.read(begin, name.data(), name.size()));
        if (!is_name(name))
            return;
        m_by_number[piece.stream] = m_by_name[name] = m_streams.size();
        m_streams.emplace_back().number = piece.stream;
    }

    /// "<rank>_<thread>.<ending>"
    static bool is_name(std::string_view name)
    {
        return std::ranges::count(name, '_') == 1 &&
               name.find_first_of(std::string_view("/\0", 2)) == name.npos;
    }

    std::string m_path;
    FileVersion m_state = {};
    std::string m_beginning;
    std::int64_t m_known_size = 0;
    std::int64_t m_next = 0; ///< where a piece is expected that was not read; 0: the head was not read
    std::vector<Stream> m_streams;
    std::unordered_map<std::uint64_t, std::size_t> m_by_number; ///< places of streams
    std::map<std::string, std::size_t> m_by_name;               ///< likewise
};

/// Those that were read.
class NodeFiles {
  public:
    /// Calls @p use with the index and what the file system says of the file. False if there is no such file.
    template <class Use> bool look_up(const std::string& path, Use use)
    {
        struct stat status;
        if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
            return false;
        const std::lock_guard lock(m_mutex);
        NodeFileIndex& index = m_known.try_emplace(path, path).first->second;
        index.update(status);
        use(std::as_const(index), status);
        return true;
    }

  private:
    std::mutex m_mutex;
    std::map<std::string, NodeFileIndex> m_known;
};

NodeFiles& node_files()
{
    static NodeFiles files;
    return files;
}

struct NameInNodeFile {
    std::string node_file, name;
};

/// Of "<base>_<host>_<rank>_<thread>.<ending>"; nothing for other names.
std::optional<NameInNodeFile> name_in_node_file(const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    const std::size_t name = slash == path.npos ? 0 : slash + 1;
    std::size_t at = path.size();
    for (int i = 0; i < 2; ++i) { // thread and rank
        at = at > name ? path.rfind('_', at - 1) : path.npos;
        if (at == path.npos || at <= name)
            return {};
    }
    return NameInNodeFile{path.substr(0, at).append(suffix), path.substr(at + 1)};
}

std::string prefix_of(const std::string& node_file)
{
    return node_file.substr(0, node_file.size() - suffix.size()) + "_";
}

/// Whether a process has locked some of these bytes, 0 being all from there on, and which one; 0 if none has.
std::int64_t process_that_locks(int descriptor, std::int64_t begin, std::int64_t size)
{
    struct flock lock = {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = begin;
    lock.l_len = size;
    if (fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? lock.l_pid : -1;
}

/// The process that has written a stream, if it lives; else 0.
std::int64_t living_process(const OpenedFile& file, std::uint64_t stream)
{
    return process_that_locks(file.descriptor(), node_locks_begin + static_cast<std::int64_t>(stream >> 32),
                              1);
}

} // namespace

bool is_node_file(std::string_view path)
{
    return path.ends_with(suffix) && path.size() > suffix.size();
}

std::optional<NodePlace> place_in_node_file(const std::string& path)
{
    constexpr std::int64_t second = 1'000'000'000;
    std::optional<NodePlace> place;
    if (const auto name = name_in_node_file(path))
        node_files().look_up(name->node_file, [&](const NodeFileIndex& index, const struct stat& status) {
            if (auto extents = index.extents_of(name->name)) {
                const std::int64_t size = extents->empty() ? 0 : extents->back().begin + extents->back().size;
                place = {name->node_file,
                         std::move(*extents),
                         size,
                         status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec,
                         status.st_size,
                         index.has_gap(name->name)};
            }
        });
    return place;
}

bool is_in_node_file(const std::string& path)
{
    bool is_there = false;
    try {
        if (const auto name = name_in_node_file(path))
            node_files().look_up(name->node_file, [&](const NodeFileIndex& index, const struct stat&) {
                is_there = index.has(name->name);
            });
    } catch (const OpenError&) {
    }
    return is_there;
}

std::vector<std::string> paths_in_node_file(const std::string& node_file)
{
    std::vector<std::string> paths;
    node_files().look_up(node_file, [&](const NodeFileIndex& index, const struct stat&) {
        for (const auto& [name, ignored] : index.names())
            paths.push_back(prefix_of(node_file) + name);
    });
    return paths;
}

bool is_cut_off(const std::string& node_file, std::int64_t known)
{
    bool is_smaller = false, ends_within_piece = false;
    node_files().look_up(node_file, [&](const NodeFileIndex& index, const struct stat& status) {
        is_smaller = status.st_size < known;
        ends_within_piece = index.ends_within_piece();
    });
    return is_smaller || (ends_within_piece &&
                          process_that_locks(OpenedFile(node_file).descriptor(), node_locks_begin, 0) == 0);
}

bool lives_in_node_file(const std::string& path)
{
    const auto name = name_in_node_file(path);
    std::optional<std::uint64_t> stream;
    if (name)
        node_files().look_up(name->node_file, [&](const NodeFileIndex& index, const struct stat&) {
            stream = index.number_of(name->name);
        });
    return stream && living_process(OpenedFile(name->node_file), *stream) != 0;
}

std::vector<LivingFile> living_files(const std::string& node_file, std::string_view ending)
{
    std::vector<std::pair<std::string, std::uint64_t>> names;
    node_files().look_up(node_file,
                         [&](const NodeFileIndex& index, const struct stat&) { names = index.names(); });
    const OpenedFile file(node_file);
    std::vector<LivingFile> living;
    for (const auto& [name, stream] : names) {
        const std::int64_t process = name.ends_with(ending) ? living_process(file, stream) : 0;
        if (process != 0)
            living.push_back({prefix_of(node_file) + name, process});
    }
    return living;
}

} // namespace hdtrace::detail
