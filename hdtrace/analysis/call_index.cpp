#include "hdtrace/analysis/call_index.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hdtrace/format/errors.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/line_parser.h"
#include "hdtrace/format/trace_lines.h"
#include "hdtrace/format/xml_states.h"

namespace hdtrace {

using namespace index_form;

namespace {

constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
// Far more than ours are. They come from strangers.
constexpr std::int64_t largest_part = std::int64_t{1} << 30;

/// The lines of a part of an index.
template <class Take> void for_each_line(const std::string& path, std::string_view text, Take take)
{
    detail::LineParser parser(0);
    State state;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n') + 1);
        if (line.empty())
            throw std::invalid_argument("a line does not end");
        if (!parser.parse(line, 0, state)) {
            const std::string whole =
                std::string(beginning) + std::string(line) + std::string(detail::closing);
            detail::TextSource source(whole);
            detail::XmlStates states(path, source);
            states.read_root();
            if (!states.next(state))
                throw std::invalid_argument("a line is empty");
        }
        take(std::move(state));
        text.remove_prefix(line.size());
    }
}

/// Whatever is wrong with an index.
template <class Work> auto or_index_error(const std::string& path, Work work)
{
    try {
        return work();
    } catch (const std::invalid_argument& error) {
        throw IndexError(path + ": this index is damaged");
    } catch (const ReadError& error) {
        throw IndexError(path + ": this index is damaged");
    } catch (const OpenError& error) {
        throw IndexError(error.what());
    }
}

bool are_same(const std::vector<FileState>& one, const std::vector<FileState>& other)
{
    return std::ranges::equal(one, other, is_same);
}

} // namespace

bool CallIndex::is_there(const ProcessTraces& process)
{
    return detail::is_file(path_of(process));
}

CallIndex::CallIndex(const Project& project, const ProcessTraces& process)
    : m_path(path_of(process)), m_traces(process.size())
{
    const bool is_of_these = or_index_error(m_path, [&] {
        read_directory();
        check_nodes();
        if (m_contents.traces.size() != m_traces || !is_same(m_contents.project, state_of_file(project.path)))
            return false;
        for (std::size_t i = 0; i < process.size(); ++i)
            if (!are_same(m_contents.traces[i], files_of_trace(process[i].path)))
                return false;
        return true;
    });
    if (!is_of_these)
        throw IndexError(m_path + ": this index is not of the traces as they are now");
}

std::string CallIndex::text_at(std::int64_t offset, std::int64_t size, std::uint64_t checksum) const
{
    if (offset < 0 || size < 0 || size > largest_part)
        throw std::invalid_argument("a part is nowhere");
    detail::File file(m_path);
    if (offset > file.size() || size > file.size() - offset)
        throw std::invalid_argument("a part is behind the end");
    std::string text(static_cast<std::size_t>(size), '\0');
    file.seek(offset);
    if (file.read(text.data(), text.size()) != text.size() || checksum_of(text) != checksum)
        throw std::invalid_argument("a part was changed");
    return text;
}

void CallIndex::read_directory()
{
    constexpr std::int64_t most = 1000; // that its last line has
    detail::File file(m_path);
    if (!file.is_seekable())
        throw std::invalid_argument("this is no file");
    const std::int64_t begin = std::max<std::int64_t>(0, file.size() - most);
    std::string tail(static_cast<std::size_t>(file.size() - begin), '\0');
    file.seek(begin);
    tail.resize(file.read(tail.data(), tail.size()));
    const std::size_t line = tail.rfind("<Directory ");
    if (line == std::string::npos)
        throw std::invalid_argument("it has no directory");
    State last;
    for_each_line(m_path, std::string_view(tail).substr(line, tail.find('\n', line) + 1 - line),
                  [&](State&& state) { last = std::move(state); });
    const auto offset = last.integer("offset"), size = last.integer("bytes"),
               checksum = last.integer("checksum");
    if (!offset || !size || !checksum)
        throw std::invalid_argument("its directory is nowhere");
    for_each_line(m_path, text_at(*offset, *size, static_cast<std::uint64_t>(*checksum)),
                  [&](State&& state) { add_line(m_contents, state); });
}

// They follow each other, and each node has those below it.
void CallIndex::check_nodes()
{
    for (const Node& node : m_contents.nodes)
        if (node.level == 0)
            m_leaves.push_back(node);
    for (std::size_t i = 0; i < m_leaves.size(); ++i)
        if (m_leaves[i].first != static_cast<std::int64_t>(i) || m_leaves[i].last != m_leaves[i].first ||
            m_leaves[i].begin.time >= m_leaves[i].end ||
            (i > 0 && m_leaves[i - 1].end != m_leaves[i].begin.time))
            throw std::invalid_argument("its blocks do not follow each other");
    for (const Node& node : m_contents.nodes)
        if (node.first > node.last || node.last >= std::ssize(m_leaves))
            throw std::invalid_argument("it has sums over what is not there");
}

std::vector<Node> CallIndex::cover(std::int64_t first, std::int64_t last) const
{
    std::vector<Node> nodes;
    while (first < last) {
        const Node* best = nullptr;
        for (const Node& node : m_contents.nodes)
            if (node.first == first && node.last < last && (!best || node.last > best->last))
                best = &node;
        nodes.push_back(*best); // a leaf at least
        first = best->last + 1;
    }
    return nodes;
}

std::vector<index_form::Item> CallIndex::items_of(const Node& node) const
{
    return items_at(node.offset, node.size, node.checksum);
}

std::vector<index_form::Item> CallIndex::items_of(const SnapshotPart& snapshot) const
{
    return items_at(snapshot.offset, snapshot.size, snapshot.checksum);
}

const SnapshotPart* CallIndex::last_snapshot(std::int64_t moment) const
{
    const SnapshotPart* last = nullptr;
    for (const SnapshotPart& snapshot : m_contents.snapshots)
        if (snapshot.moment <= moment && (!last || snapshot.moment > last->moment))
            last = &snapshot;
    return last;
}

std::vector<index_form::Item> CallIndex::items_at(std::int64_t offset, std::int64_t size,
                                                  std::uint64_t checksum) const
{
    return or_index_error(m_path, [&] {
        std::vector<index_form::Item> items;
        for_each_line(m_path, text_at(offset, size, checksum),
                      [&](State&& line) { items.push_back(item_of(std::move(line), m_traces)); });
        return items;
    });
}

IndexedCalls::IndexedCalls(CallIndex index, ProcessTraces process, Selection read, TimeInterval interval)
    : m_index(std::move(index)), m_process(std::move(process)), m_read(std::move(read))
{
    plan(interval);
}

void IndexedCalls::plan(TimeInterval interval)
{
    const std::vector<Node>& leaves = m_index.leaves();
    const auto leaf_at = [&](std::int64_t moment) { // the last one that has begun by then; -1 before all
        return std::ranges::upper_bound(leaves, moment, {},
                                        [](const Node& leaf) { return leaf.begin.time; }) -
               leaves.begin() - 1;
    };
    std::int64_t first = leaf_at(interval.begin);
    // Behind the last whole one.
    const std::int64_t last = interval.end == latest ? std::ssize(leaves) : leaf_at(interval.end);
    if (first >= 0 && leaves[first].begin.time < interval.begin) {
        plan_nodes(0, first, true);
        plan_reading(first++, interval.end);
    } else {
        first = std::max<std::int64_t>(first, 0);
        plan_nodes(0, first, true);
    }
    plan_nodes(first, last, false);
    if (last >= first && last < std::ssize(leaves))
        plan_reading(last, interval.end);
}

void IndexedCalls::plan_nodes(std::int64_t first, std::int64_t last, bool is_before)
{
    for (const Node& node : m_index.cover(first, last))
        m_steps.push_back({.node = node, .is_before = is_before, .interval = {}, .begin = {}});
}

void IndexedCalls::plan_reading(std::int64_t leaf, std::int64_t last_moment)
{
    const Node& node = m_index.leaves()[leaf];
    const std::int64_t end = node.end == latest ? latest : node.end - 1;
    m_steps.push_back({.node = {},
                       .is_before = false,
                       .interval = {node.begin.time, std::min(end, last_moment)},
                       .begin = node.begin});
}

bool IndexedCalls::begin_step()
{
    m_said.clear();
    m_next_said = 0;
    m_states.reset();
    if (m_next_step == m_steps.size())
        return false;
    const Step& step = m_steps[m_next_step++];
    if (step.node) {
        m_said = m_index.items_of(*step.node);
        if (step.is_before)
            std::erase_if(m_said, [](const index_form::Item& item) {
                return item.kind == index_form::Item::Kind::sums;
            });
        return true;
    }
    m_begins = step.interval;
    m_read.interval = step.interval;
    m_states.emplace(m_process, m_read);
    m_position = step.begin;
    return true;
}

const IndexedCalls::Item* IndexedCalls::next()
{
    do {
        if (m_states) {
            if (const Item* const item = next_of_trace())
                return item;
        } else if (m_next_said < m_said.size()) {
            m_item.said = std::move(m_said[m_next_said++]);
            m_item.state = &m_item.said.state;
            m_item.trace = &m_process[m_item.said.trace];
            m_item.is_of_trace = false;
            return &m_item;
        }
    } while (begin_step());
    return nullptr;
}

// Those that last into the block are kept by the one before it.
const IndexedCalls::Item* IndexedCalls::next_of_trace()
{
    while (const State* const state = m_states->next()) {
        if (state->time < m_begins.begin)
            continue;
        m_position.time = std::max(m_position.time, state->time);
        m_item.said.position = m_position;
        ++m_position.state;
        m_item.state = state;
        m_item.trace =
            &*std::ranges::find(m_process, m_states->trace().path, &TraceFile::path); // which stays
        m_item.is_of_trace = true;
        return &m_item;
    }
    return nullptr;
}

} // namespace hdtrace
