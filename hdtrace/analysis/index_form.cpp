#include "hdtrace/analysis/index_form.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/format/compressed.h"
#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/segments.h"

namespace hdtrace::index_form {
namespace {

constexpr std::string_view kind_names[] = {"Sum", "Kept", "Closed", "Inside", "Last"};
constexpr std::string_view sums_kinds[] = {"calls", "region", "messages"};

[[noreturn]] void fail()
{
    throw std::invalid_argument("no line of an index");
}

void add(State& line, std::string_view name, std::int64_t value)
{
    line.attributes.push_back(name, std::to_string(value));
}

void add_if(State& line, std::string_view name, std::int64_t value)
{
    if (value != 0)
        add(line, name, value);
}

std::int64_t number(const Element& line, const AttributeName& name)
{
    const auto value = line.integer(name);
    if (!value)
        fail();
    return *value;
}

/// Of which there cannot be less than none.
std::int64_t count(const Element& line, const AttributeName& name)
{
    const std::int64_t value = line.has(name) ? number(line, name) : 0;
    if (value < 0)
        fail();
    return value;
}

void add_position(State& line, const Position& position)
{
    add(line, "at", position.time);
    add(line, "state", position.state);
}

Position position_in(const Element& line)
{
    return {number(line, "at"), count(line, "state")};
}

void add_sums(State& line, const SummedCalls& sums)
{
    line.attributes.push_back("kind", sums_kinds[static_cast<std::size_t>(sums.kind)]);
    line.attributes.push_back("name", sums.call.name);
    for (const Attribute& attribute : sums.call.attributes)
        line.attributes.push_back(attribute.name, attribute.value);
    if (sums.size)
        add(line, "size", *sums.size);
    if (!sums.regions.empty())
        line.attributes.push_back("region", sums.regions);
    add(line, "calls", sums.calls);
    add(line, "total", sums.total);
    add(line, "exclusive", sums.exclusive);
    add(line, "shortest", sums.shortest);
    add(line, "longest", sums.longest);
    add_if(line, "sent", sums.sent);
    add_if(line, "received", sums.received);
    add_if(line, "posted", sums.posted);
    add_if(line, "bytes", sums.bytes);
    line.time = sums.call.time;
    line.end = sums.call.end;
}

SummedCalls sums_in(const State& line)
{
    SummedCalls sums;
    const auto kind = std::ranges::find(sums_kinds, line.find("kind").value_or(""));
    if (kind == std::end(sums_kinds) || line.end < line.time)
        fail();
    sums.kind = static_cast<SummedCalls::Kind>(kind - std::begin(sums_kinds));
    sums.call.name = line.text("name");
    for (const char* const name : {"unfinished", "toRank", "fromRank", "cid", "fid", "site"})
        if (const auto value = line.find(name))
            sums.call.attributes.push_back(name, *value);
    sums.call.time = line.time;
    sums.call.end = line.end;
    if (line.has("size"))
        sums.size = count(line, "size");
    sums.regions = line.text("region");
    sums.calls = count(line, "calls");
    sums.total = count(line, "total");
    sums.exclusive = count(line, "exclusive");
    sums.shortest = count(line, "shortest");
    sums.longest = count(line, "longest");
    sums.sent = count(line, "sent");
    sums.received = count(line, "received");
    sums.posted = count(line, "posted");
    sums.bytes = count(line, "bytes");
    return sums;
}

std::string text_of(const std::vector<std::int64_t>& numbers)
{
    std::string text;
    for (const std::int64_t value : numbers)
        text += std::to_string(value) + ";";
    return text;
}

std::vector<std::int64_t> numbers_in(std::string_view text)
{
    std::vector<std::int64_t> numbers;
    while (!text.empty()) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end == text.data() + text.size() || *end != ';' || value < 0)
            fail();
        numbers.push_back(value);
        text.remove_prefix(end + 1 - text.data());
    }
    return numbers;
}

State line_named(std::string_view name)
{
    State line;
    line.name = name;
    return line;
}

void add_file(State& line, const FileState& file)
{
    line.attributes.push_back("ending", file.ending);
    add(line, "size", file.size);
    add(line, "modified", file.modified);
}

/// Where in the text of the file something stands.
void add_part(State& line, std::int64_t offset, std::int64_t size, std::uint64_t checksum)
{
    add(line, "offset", offset);
    add(line, "bytes", size);
    add(line, "checksum", static_cast<std::int64_t>(checksum));
}

FileState file_in(const State& line)
{
    return {line.text("ending"), count(line, "size"), number(line, "modified")};
}

} // namespace

bool has_exact_paths(const Contents& contents)
{
    return contents.version >= newest_version ||
           std::ranges::none_of(contents.regions, [](const SeenRegion& region) {
               return region.path.find_first_of("/\\") != std::string::npos;
           });
}

std::uint64_t checksum_of(std::string_view text)
{
    std::uint64_t sum = 0xcbf29ce484222325; // FNV-1a
    for (const char byte : text)
        sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    return sum;
}

std::string line_of(const Item& item)
{
    State line = line_named(kind_names[static_cast<std::size_t>(item.kind)]);
    add_position(line, item.position);
    add(line, "trace", static_cast<std::int64_t>(item.trace));
    if (!item.inside.empty())
        line.attributes.push_back("inside", text_of(item.inside));
    if (item.kind == Item::Kind::sums)
        add_sums(line, item.sums);
    else if (item.kind == Item::Kind::last)
        line.attributes.push_back("name", item.name);
    else if (item.kind != Item::Kind::inside)
        line.nested.push_back(item.state);
    return trace_line(line, 0);
}

Item item_of(State&& line, std::size_t traces)
{
    const auto kind = std::ranges::find(kind_names, line.name);
    Item item;
    item.trace = static_cast<std::size_t>(count(line, "trace"));
    if (kind == std::end(kind_names) || item.trace >= traces)
        fail();
    item.kind = static_cast<Item::Kind>(kind - std::begin(kind_names));
    item.position = position_in(line);
    item.inside = numbers_in(line.find("inside").value_or(""));
    if (item.kind == Item::Kind::sums) {
        item.sums = sums_in(line);
    } else if (item.kind == Item::Kind::last) {
        item.name = line.text("name");
    } else if (item.kind != Item::Kind::inside) {
        if (line.nested.size() != 1)
            fail();
        item.state = std::move(line.nested.front());
    }
    return item;
}

std::string text_of(const Contents& contents, std::int64_t offset)
{
    State head = line_named("Index");
    add(head, "version", contents.version);
    add_if(head, "regions", contents.has_regions);
    add_if(head, "prepared", contents.has_prepared);
    add_if(head, "counters", contents.has_counters);
    add(head, "calls", contents.calls);
    add(head, "traces", static_cast<std::int64_t>(contents.traces.size()));
    add_file(head, contents.project);
    std::string text = trace_line(head, 0);
    for (std::size_t i = 0; i < contents.traces.size(); ++i)
        for (const FileState& file : contents.traces[i]) {
            State line = line_named("File");
            add(line, "trace", static_cast<std::int64_t>(i));
            add_file(line, file);
            text += trace_line(line, 0);
        }
    for (const SeenRegion& region : contents.regions) {
        State line = line_named("Region");
        line.attributes.push_back("region", region.path);
        add_position(line, region.position);
        text += trace_line(line, 0);
    }
    for (const Node& node : contents.nodes) {
        State line = line_named("Node");
        add(line, "level", node.level);
        add(line, "first", node.first);
        add(line, "last", node.last);
        add_position(line, node.begin);
        add(line, "until", node.end);
        add_part(line, node.offset, node.size, node.checksum);
        text += trace_line(line, 0);
    }
    for (const SnapshotPart& snapshot : contents.snapshots) {
        State line = line_named("Snapshot");
        add(line, "at", snapshot.moment);
        add_part(line, snapshot.offset, snapshot.size, snapshot.checksum);
        text += trace_line(line, 0);
    }
    State last = line_named("Directory");
    add_part(last, offset, static_cast<std::int64_t>(text.size()), checksum_of(text));
    return text + trace_line(last, 0);
}

void add_line(Contents& contents, const State& line)
{
    if (line.name == "Index") {
        contents.version = line.has("version") ? number(line, "version") : 1;
        contents.has_regions = line.has("regions");
        contents.has_prepared = line.has("prepared");
        contents.has_counters = line.has("counters");
        contents.calls = count(line, "calls");
        contents.project = file_in(line);
    } else if (line.name == "File") {
        const std::int64_t trace = count(line, "trace");
        if (trace != std::ssize(contents.traces) && trace + 1 != std::ssize(contents.traces))
            fail();
        contents.traces.resize(static_cast<std::size_t>(trace) + 1);
        contents.traces.back().push_back(file_in(line));
    } else if (line.name == "Region") {
        contents.regions.push_back({line.text("region"), position_in(line)});
    } else if (line.name == "Node") {
        contents.nodes.push_back({.level = count(line, "level"),
                                  .first = count(line, "first"),
                                  .last = count(line, "last"),
                                  .begin = position_in(line),
                                  .end = number(line, "until"),
                                  .offset = count(line, "offset"),
                                  .size = count(line, "bytes"),
                                  .checksum = static_cast<std::uint64_t>(number(line, "checksum"))});
    } else if (line.name == "Snapshot") {
        contents.snapshots.push_back({.moment = number(line, "at"),
                                      .offset = count(line, "offset"),
                                      .size = count(line, "bytes"),
                                      .checksum = static_cast<std::uint64_t>(number(line, "checksum"))});
    } else {
        fail();
    }
}

FileState state_of_file(const std::string& path, std::string ending)
{
    const detail::FileTime file = detail::file_time(path);
    return {std::move(ending), file.size, file.modified};
}

std::vector<FileState> files_of_trace(const std::string& trace)
{
    const std::string plain(detail::plain_name(trace));
    const std::string first = detail::existing_name(trace);
    std::vector<FileState> files = {state_of_file(first, first.substr(plain.size()))};
    for (int segment = 1; segment < segment_count; ++segment) {
        const std::string path = first + "." + std::to_string(segment);
        if (detail::is_file(path))
            files.push_back(state_of_file(path, path.substr(plain.size())));
    }
    return files;
}

// Copies in packed files, and what was unpacked, have times in whole seconds.
bool is_same(const FileState& one, const FileState& other)
{
    const auto fraction = [](std::int64_t time) { return time % nanoseconds_per_second; };
    const bool is_same_time =
        one.modified == other.modified ||
        ((fraction(one.modified) == 0 || fraction(other.modified) == 0) &&
         one.modified - fraction(one.modified) == other.modified - fraction(other.modified));
    return is_same_time && one.size == other.size && one.ending == other.ending;
}

std::string path_of(const ProcessTraces& process)
{
    const std::string_view plain = detail::plain_name(process.front().path);
    return std::string(plain.substr(0, plain.rfind('.'))) + ".index";
}

} // namespace hdtrace::index_form
