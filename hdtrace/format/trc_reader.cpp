#include "hdtrace/format/trc_reader.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <filesystem>
#include <limits>
#include <new>
#include <ranges>
#include <utility>

#include "hdtrace/format/cut_off.h"
#include "hdtrace/format/line_parser.h"
#include "hdtrace/format/segments.h"
#include "hdtrace/format/trace_lines.h"
#include "hdtrace/format/xml_states.h"

namespace hdtrace {

using detail::closing;
using detail::is_blank;
using detail::is_declaration;
using detail::is_opening_tag;
using detail::without_blanks_behind;

namespace {

std::optional<int> parse_int(std::string_view text)
{
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return {};
    return number;
}

struct Owner {
    std::optional<int> rank;
    std::optional<int> thread;
};

// Whose trace `<base>_<host>_<rank>_<thread>.trc` is; base and host of older traces may contain '_'.
Owner owner_by_name(const std::string& path)
{
    const std::string stem = std::filesystem::path(path).stem().string();
    std::vector<std::string_view> parts;
    for (const auto part : std::views::split(std::string_view(stem), '_'))
        parts.emplace_back(part.begin(), part.end());
    if (parts.size() < 4)
        return {};
    const Owner owner{parse_int(parts.end()[-2]), parse_int(parts.end()[-1])};
    return owner.rank && owner.thread ? owner : Owner();
}

// Each of them costs as much as hundreds of those that our writer writes, and more than in one go.
constexpr int most_odd_lines = 1000;

// A trace without lines that have been read, for libxml2, which has to find all that follows at its place.
class LaterLines : public detail::ByteSource {
  public:
    /// First @p beginning, then empty lines until there are @p lines_before, then @p first and the rest of @p
    /// lines.
    LaterLines(std::string beginning, std::int64_t lines_before, std::string first, detail::WholeLines& lines)
        : m_beginning(std::move(beginning)), m_first(std::move(first)), m_beginning_rest(m_beginning),
          m_first_rest(m_first), m_empty_lines(lines_before - std::ranges::count(m_beginning, '\n')),
          m_lines(lines)
    {
    }

    std::size_t read(char* target, std::size_t size) override
    {
        if (const std::size_t count = m_beginning_rest.read(target, size))
            return count;
        if (m_empty_lines > 0)
            return read_empty_lines(target, size);
        if (const std::size_t count = m_first_rest.read(target, size))
            return count;
        return m_lines.read(target, size);
    }
    int error() const override { return m_lines.error(); }
    std::string refusal() const override { return m_lines.refusal(); }
    std::size_t most_items() const override { return m_lines.most_items(); }

  private:
    // libxml2 refuses texts of more than ten million bytes, so there is something between the line feeds, and
    // also before the last one: its lines of texts are those of their ends.
    std::size_t read_empty_lines(char* target, std::size_t size)
    {
        constexpr std::string_view separator = "<!---->";
        const std::size_t separated = size > separator.size() ? separator.copy(target, size) : 0;
        const std::int64_t but_the_last = std::max<std::int64_t>(m_empty_lines - 1, 1);
        const std::size_t count = std::min<std::size_t>(size - separated, but_the_last);
        std::fill_n(target + separated, count, '\n');
        m_empty_lines -= count;
        return separated + count;
    }

    std::string m_beginning;
    std::string m_first;
    detail::TextSource m_beginning_rest;
    detail::TextSource m_first_rest;
    std::int64_t m_empty_lines;
    detail::WholeLines& m_lines;
};

void set_line(State& state, std::int64_t line)
{
    state.line = line;
    for (State& nested : state.nested)
        set_line(nested, line);
}

void add_to_lines(State& state, std::int64_t lines)
{
    state.line += lines;
    for (State& nested : state.nested)
        add_to_lines(nested, lines);
}

} // namespace

// Asked of every state, so without a look at other spellings.
struct TrcReader::Reading {
    Reading(const std::string& path, const ReadOptions& options)
        : path(path), lines(path, std::string(closing), options)
    {
        lines.begin_notes();
    }

    /// Up to and with the root's opening tag.
    void read_beginning();
    bool read_regular_root();
    bool next(State& state);
    bool next_in_lines(State& state);
    /// The states of a line that is not as our writer writes it. False if it does not consist of whole
    /// states.
    bool read_odd_line(std::string_view line);
    /// Behind the root, where nothing may follow.
    bool finish(std::string_view last_line, State& state);
    /// Reads on with libxml2, to the end.
    void read_rest(std::string first);

    void seek(std::int64_t time);
    struct Probe {
        std::int64_t position;
        std::int64_t end;
    };
    /// The first line with a state that begins behind a byte.
    std::optional<Probe> probe(std::int64_t position);
    /// Finds out how many lines stand before a byte, if it is not known how many were read.
    void count_lines(std::int64_t position);
    /// Of the whole file, once it was read.
    std::int64_t all_lines() const { return xml ? xml->xml().lines_read() : lines_read; }

    /// The data ended before the root did.
    void give_up();
    /// In a node file each piece is followed by the end of the trace, and the next one may be missing.
    void look_for_later_pieces();
    void check_lines() const;
    Owner owner() const;

    std::string path;
    detail::WholeLines lines;
    std::string beginning;
    Element root;
    std::int64_t time_adjustment = 0;
    std::optional<detail::LineParser> parser; ///< while the trace is read line by line
    std::deque<State> odd_states;             ///< from the last line, not handed out yet
    int odd_lines_read = 0;
    std::optional<LaterLines> rest;         ///< for libxml2
    std::unique_ptr<detail::XmlStates> xml; ///< once libxml2 reads the rest
    std::int64_t lines_read = 0;
    bool knows_lines = true; ///< whether lines_read counts from the beginning
    std::int64_t earliest_end = std::numeric_limits<std::int64_t>::min();
    bool has_odd_lines = false; ///< for which the schema has to be asked
    bool at_end = false;
    std::string missing;
    std::int64_t whole_lines = 0;
    std::optional<ReadError> failure;
};

void TrcReader::Reading::read_beginning()
{
    bool is_regular = false;
    for (std::string_view line; lines.next_line(line);) {
        beginning += line;
        if (beginning.size() == line.size() && is_declaration(line))
            continue;
        is_regular = is_opening_tag(line);
        break;
    }
    lines_read = std::ranges::count(beginning, '\n');
    if (is_regular && read_regular_root())
        return;
    read_rest({});
}

bool TrcReader::Reading::read_regular_root()
{
    const std::string text = beginning + std::string(closing);
    detail::TextSource source(text);
    detail::XmlStates states(path, source);
    try {
        states.read_root();
    } catch (const ReadError&) {
        return false;
    }
    root = states.root();
    time_adjustment = states.time_adjustment();
    parser.emplace(time_adjustment, std::min(lines.most_items(), detail::XmlStates::most_items));
    return true;
}

void TrcReader::Reading::read_rest(std::string first)
{
    count_lines(lines.position() - static_cast<std::int64_t>(first.size()));
    parser.reset();
    has_odd_lines = true;
    rest.emplace(beginning, lines_read, std::move(first), lines);
    xml = std::make_unique<detail::XmlStates>(path, *rest);
    xml->read_root();
    root = xml->root();
    time_adjustment = xml->time_adjustment();
}

inline bool TrcReader::Reading::next_in_lines(State& state)
{
    while (odd_states.empty()) {
        std::string_view line;
        if (!lines.next_line(line)) {
            check_lines();
            give_up();
            return false;
        }
        const bool is_empty = line == "\n";
        if (!is_empty && parser->parse(line, knows_lines ? lines_read + 1 : 0, state, lines.noted())) {
            ++lines_read;
            has_odd_lines = has_odd_lines || !parser->is_exact() || !parser->is_valid(state);
            return true;
        }
        if (without_blanks_behind(line) == closing)
            return finish(line, state);
        has_odd_lines = has_odd_lines || !is_blank(line);
        if (!is_blank(line) && (++odd_lines_read > most_odd_lines || !read_odd_line(line))) {
            read_rest(std::string(line));
            return xml->next(state);
        }
        ++lines_read;
    }
    state = std::move(odd_states.front());
    odd_states.pop_front();
    return true;
}

inline bool TrcReader::Reading::next(State& state)
{
    do {
        if (!(parser ? next_in_lines(state) : xml->next(state))) {
            at_end = true;
            look_for_later_pieces();
            return false;
        }
    } while (state.end < earliest_end);
    return true;
}

bool TrcReader::Reading::read_odd_line(std::string_view line)
{
    const std::string text = beginning + std::string(line) + std::string(closing);
    detail::TextSource source(text, lines.most_items());
    detail::XmlStates states(path, source);
    try {
        states.read_root();
        for (State state; states.next(state); odd_states.push_back(std::move(state)))
            set_line(state, knows_lines ? lines_read + 1 : 0);
        return true;
    } catch (const ReadError&) {
        odd_states.clear();
        return false;
    }
}

bool TrcReader::Reading::finish(std::string_view last_line, State& state)
{
    std::string read(last_line);
    std::int64_t count = 1;
    for (std::string_view line; lines.next_line(line); ++count) {
        read += line;
        if (!is_blank(line)) {
            read_rest(std::move(read));
            return xml->next(state);
        }
    }
    check_lines();
    lines_read += count;
    return false;
}

void TrcReader::Reading::check_lines() const
{
    if (lines.error())
        throw OpenError(path, lines.error());
    if (const std::string refusal = lines.refusal(); !refusal.empty())
        throw ReadError(path, knows_lines ? lines_read + 1 : 0, 0, refusal);
}

void TrcReader::Reading::give_up()
{
    at_end = true;
    if (xml) {
        const bool has_root = !xml->root().name.empty();
        missing = detail::missing_end(lines, xml->xml().lines_read(), has_root);
        if (has_root)
            whole_lines = xml->unfinished_line() > 0 ? xml->unfinished_line() - 1 : xml->xml().lines_read();
        return;
    }
    count_lines(lines.position());
    missing = detail::missing_end(lines, lines_read, true);
    whole_lines = lines_read;
}

void TrcReader::Reading::look_for_later_pieces()
{
    if (missing.empty() && lines.is_in_cut_node_file())
        missing = closing;
}

void TrcReader::Reading::seek(std::int64_t time)
{
    if (time <= earliest_end)
        return;
    earliest_end = time;
    if (!parser || !lines.file().is_seekable() || !root.find("version"))
        return;
    constexpr std::int64_t found = 1 << 16;
    const std::int64_t first = lines.position();
    std::int64_t low = first;
    std::int64_t high = lines.file().size();
    while (high - low > found) {
        const std::int64_t middle = low + (high - low) / 2;
        const auto at_middle = probe(middle);
        if (at_middle && at_middle->position < high && at_middle->end < time)
            low = at_middle->position;
        else
            high = middle;
    }
    lines.seek(low);
    knows_lines = low == first;
}

std::optional<TrcReader::Reading::Probe> TrcReader::Reading::probe(std::int64_t position)
{
    lines.seek(position);
    State state;
    std::string_view line;
    lines.next_line(line);
    for (Probe probe{lines.position(), 0}; lines.next_line(line); probe.position = lines.position()) {
        if (parser->parse(line, 0, state))
            return Probe{probe.position, state.end};
        if (is_blank(line))
            continue;
        if (!read_odd_line(line) || odd_states.empty())
            return {};
        probe.end = odd_states.back().end;
        odd_states.clear();
        return probe;
    }
    check_lines();
    return {};
}

void TrcReader::Reading::count_lines(std::int64_t position)
{
    if (std::exchange(knows_lines, true))
        return;
    detail::File file(path);
    std::string block(1 << 16, '\0');
    lines_read = 0;
    while (position > 0) {
        const std::size_t size = file.read(block.data(), std::min<std::int64_t>(block.size(), position));
        if (size == 0)
            break;
        lines_read += std::count(block.data(), block.data() + size, '\n');
        position -= static_cast<std::int64_t>(size);
    }
}

Owner TrcReader::Reading::owner() const
{
    const auto rank = root.find("rank");
    const auto thread = root.find("thread");
    return rank && thread ? Owner{parse_int(*rank), parse_int(*thread)} : owner_by_name(path);
}

std::unique_ptr<TrcReader::Reading> TrcReader::begin(const std::string& path, const ReadOptions& options)
{
    auto reading = std::make_unique<Reading>(path, options);
    try {
        reading->read_beginning();
    } catch (const detail::EndOfData&) {
        reading->give_up();
    }
    return reading;
}

TrcReader::TrcReader(const std::string& path, const ReadOptions& options)
    : m_reading(begin(path, options)), m_options(options), m_begin(std::numeric_limits<std::int64_t>::min())
{
    m_later = detail::segments_of(path, m_reading->root,
                                  [&](const std::string& file) { return begin(file, options)->root; });
    m_has_segments = m_reading->root.find("segment") || m_later.size() > 1 || m_later.front() != path;
    std::ranges::reverse(m_later);
    if (m_later.back() != path)
        m_reading = begin(m_later.back(), options);
    m_later.pop_back();
}

// Closed before the next one began, so nothing is missing at its end, but if somebody else cut it off.
void TrcReader::go_on()
{
    if (m_missing.empty())
        m_missing = m_reading->missing;
    m_has_odd_lines = m_has_odd_lines || m_reading->has_odd_lines;
    m_lines_before = m_lines_before && m_reading->knows_lines
                         ? std::optional(*m_lines_before + m_reading->all_lines())
                         : std::nullopt;
    m_reading = begin(m_later.back(), m_options);
    m_reading->seek(m_begin);
    m_later.pop_back();
}

TrcReader::~TrcReader() = default;
TrcReader::TrcReader(TrcReader&&) noexcept = default;
TrcReader& TrcReader::operator=(TrcReader&&) noexcept = default;

const AttributeList& TrcReader::attributes() const
{
    return m_reading->root.attributes;
}

std::int64_t TrcReader::time_adjustment() const
{
    return m_reading->time_adjustment;
}

std::optional<int> TrcReader::rank() const
{
    return m_reading->owner().rank;
}

std::optional<int> TrcReader::thread() const
{
    return m_reading->owner().thread;
}

inline bool TrcReader::next_in_file(State& state)
{
    if (m_reading->failure)
        throw *m_reading->failure;
    if (m_reading->at_end)
        return false;
    try {
        return m_reading->next(state);
    } catch (const detail::EndOfData&) {
        m_reading->give_up();
        return false;
    } catch (const std::bad_alloc&) {
        state = {};
        const std::int64_t line =
            m_reading->xml ? m_reading->xml->unfinished_line() : m_reading->lines_read + 1;
        m_reading->failure = ReadError(m_reading->path, line, 0, "there is not enough memory for this state");
        throw *m_reading->failure;
    } catch (const ReadError& error) {
        m_reading->failure = error;
        throw;
    }
}

bool TrcReader::next(State& state)
{
    while (!next_in_file(state)) {
        if (m_later.empty())
            return false;
        go_on();
    }
    if (!m_lines_before)
        set_line(state, 0);
    else if (*m_lines_before > 0 && state.line > 0)
        add_to_lines(state, *m_lines_before);
    return true;
}

void TrcReader::seek(std::int64_t time)
{
    m_begin = time;
    m_reading->seek(time);
}

bool TrcReader::complete() const
{
    return m_reading->at_end && missing().empty();
}

const std::string& TrcReader::missing() const
{
    return m_missing.empty() ? m_reading->missing : m_missing;
}

bool TrcReader::has_only_plain_lines() const
{
    return !m_has_odd_lines && !m_reading->has_odd_lines;
}

std::int64_t TrcReader::whole_lines() const
{
    return m_reading->whole_lines;
}

} // namespace hdtrace
