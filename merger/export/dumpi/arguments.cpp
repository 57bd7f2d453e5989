#include "merger/export/dumpi/arguments.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "hdtrace/format/blocks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace::exporter::dumpi {

using namespace hdtrace::dumpi;

namespace {

/// What stands before @p separator, which is taken from the text with it.
std::string_view take(std::string_view& text, char separator)
{
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    return part;
}

std::size_t element_count(std::string_view list)
{
    return static_cast<std::size_t>(std::ranges::count(list, ';'));
}

std::optional<std::int64_t> number_in(std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Where there is none: the null handle, or what readers print as an error; no bytes, and no root.
std::int64_t nothing(Code code)
{
    switch (code) {
    case Code::communicator:
        return null_communicator;
    case Code::group:
        return null_group;
    case Code::errhandler:
        return null_errhandler;
    case Code::operation:
        return null_operation;
    case Code::request:
        return null_request;
    default:
        return 0;
    }
}

bool is_translated(const CallFacts& facts, std::string_view attribute)
{
    return std::ranges::find(rank_attributes_of(facts.name), attribute) !=
           rank_attributes_of(facts.name).end();
}

} // namespace

Losses ArgumentWriter::write(const Function& function, const CallView& call, Bytes& bytes)
{
    m_bytes = &bytes;
    m_call = &call;
    m_losses = {};
    m_root.reset();
    for (const Argument& argument : function.arguments)
        if (!argument.at_root || m_root == my_rank())
            write_argument(argument);
    return m_losses;
}

void ArgumentWriter::write_argument(const Argument& argument)
{
    static const Source none;
    const Source* source = find_source(argument);
    if (source == nullptr || source->kind == SourceKind::nowhere) {
        m_losses.is_missing = true;
        source = &none;
    }
    if (argument.code == Code::status)
        write_statuses(*source);
    else if (argument.dimensions > 0)
        write_array(argument, *source);
    else
        write_scalar(argument, *source);
}

const Source* ArgumentWriter::find_source(const Argument& argument) const
{
    const auto found =
        std::ranges::find_if(argument.sources, [&](const Source& source) { return has(source); });
    return found == argument.sources.end() ? nullptr : &*found;
}

bool ArgumentWriter::has(const Source& source) const
{
    switch (source.kind) {
    case SourceKind::attribute:
    case SourceKind::undefined:
    case SourceKind::element_count:
    case SourceKind::text_length:
        return m_call->call.has(source.name);
    case SourceKind::type_attribute:
        return described_type() != nullptr && described_type()->attributes.value(source.name);
    case SourceKind::type_rows:
        return described_type() != nullptr && (source.name == "len" || described_type()->rows.empty() ||
                                               described_type()->rows[0].has(source.name));
    default:
        return true;
    }
}

// --- single values ---

void ArgumentWriter::write_scalar(const Argument& argument, const Source& source)
{
    if (argument.code == Code::text) {
        m_bytes->text<std::uint32_t>(text_at(source));
        return;
    }
    const std::int64_t value = scalar(argument, source);
    if (argument.name == "root")
        m_root = value;
    put(argument, value);
}

std::string_view ArgumentWriter::text_at(const Source& source) const
{
    return source.kind == SourceKind::attribute ? m_call->call.find(source.name).value_or("")
                                                : std::string_view();
}

std::int64_t ArgumentWriter::scalar(const Argument& argument, const Source& source)
{
    const Element& call = m_call->call;
    switch (source.kind) {
    case SourceKind::attribute:
    case SourceKind::undefined:
        return value(argument, source, call, source.name);
    case SourceKind::element_count:
        return static_cast<std::int64_t>(element_count(*call.find(source.name)));
    case SourceKind::text_length:
        return static_cast<std::int64_t>(call.find(source.name)->size());
    case SourceKind::type_attribute:
        return value(argument, source, described_type()->attributes.value(source.name).value_or(""),
                     described_type()->attributes.integer(source.name));
    case SourceKind::number:
        return source.number;
    case SourceKind::special:
        return special(argument, source);
    default:
        return nothing(argument.code);
    }
}

std::int64_t ArgumentWriter::special(const Argument& argument, const Source& source)
{
    const Element& call = m_call->call;
    const std::vector<OfferedRequest>* offered = m_call->offered;
    switch (source.special) {
    case Special::me:
        return my_rank();
    case Special::members:
        return static_cast<std::int64_t>(member_count());
    case Special::request:
        return offered != nullptr && !offered->empty() ? offered->front().number : null_request;
    case Special::count:
        return offered != nullptr ? static_cast<std::int64_t>(offered->size()) : 0;
    case Special::index:
        return m_call->ended != nullptr && !m_call->ended->empty()
                   ? static_cast<std::int64_t>(m_call->ended->front())
                   : undefined;
    case Special::color: {
        const Communicator* made = m_process.communicator(call, "newcid");
        const auto members = m_process.communicators.members(made).in_order();
        return members.empty() ? undefined : members.front();
    }
    case Special::position:
        return saturated_distance(call.integer("position").value_or(0), call.integer("size").value_or(0));
    case Special::own: {
        const auto own = std::ranges::find_if(m_call->children, [&](const Element& child) {
            return (child.name == "Recv" || child.name == "Send") && child.integer("rank") == m_process.rank;
        });
        return own == m_call->children.end() ? 0 : own->integer("count").value_or(0);
    }
    case Special::processes: {
        std::int64_t sum = 0;
        std::string_view list = call.find("maxprocs").value_or("");
        while (!list.empty())
            sum = saturated_sum(sum, std::max<std::int64_t>(0, number_in(take(list, ';')).value_or(0)));
        return sum;
    }
    case Special::fresh:
        return object_without_identity(argument.code, true);
    case Special::last:
        return object_without_identity(argument.code, false);
    default:
        return nothing(argument.code);
    }
}

std::int64_t ArgumentWriter::object_without_identity(Code code, bool is_new)
{
    NamelessNumbers& numbers = code == Code::operation ? m_process.numbers.operations
                               : code == Code::info    ? m_process.numbers.infos
                                                       : m_process.numbers.errhandlers;
    if (is_new)
        return numbers.make();
    m_losses.is_guessed = m_losses.is_guessed || !numbers.is_sure();
    return numbers.last(m_call->facts.frees != ObjectKind::none);
}

void ArgumentWriter::put(const Argument& argument, std::int64_t value)
{
    const int width = width_of(argument.code);
    if (width == 4 && argument.code != Code::request && argument.name != "address") {
        constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        m_losses.is_cut = m_losses.is_cut || value < least || value > most;
        value = std::clamp(value, least, most);
    }
    m_bytes->number(static_cast<std::uint64_t>(value), static_cast<std::size_t>(width));
}

// --- what values mean ---

std::int64_t ArgumentWriter::value(const Argument& argument, const Source& source, const Element& element,
                                   const AttributeName& attribute)
{
    return value(argument, source, element.find(attribute).value_or(""), element.integer(attribute));
}

std::int64_t ArgumentWriter::value(const Argument& argument, const Source& source, std::string_view text,
                                   std::optional<std::int64_t> number)
{
    switch (argument.code) {
    case Code::integer:
        return integer(argument, source, text, number);
    case Code::rank:
        return rank(source, number.value_or(any_source), is_translated(m_call->facts, source.name));
    case Code::large:
    case Code::tag:
        return number.value_or(0);
    case Code::file_mode:
        return file_mode(text);
    case Code::assertion:
        return sum_of_constants(argument.code, text);
    case Code::lock:
    case Code::topology:
    case Code::combiner:
    case Code::comparison:
    case Code::order:
    case Code::distribution:
    case Code::thread_level:
    case Code::type_class:
    case Code::whence:
        return constant(argument.code, text);
    default:
        return object_number(argument.code, text, number.value_or(-1));
    }
}

std::int64_t ArgumentWriter::object_number(Code code, std::string_view text, std::int64_t number)
{
    ObjectNumbers& numbers = m_process.numbers;
    switch (code) {
    case Code::datatype:
        return numbers.datatype(number);
    case Code::communicator:
        return number < 0
                   ? null_communicator
                   : m_process.communicators.number(m_process.objects.communicator(m_process.rank, number));
    case Code::group:
        return numbers.group(text);
    case Code::file:
        return numbers.file(number);
    case Code::window:
        return numbers.window(number);
    case Code::key:
        return numbers.key(text);
    case Code::operation:
        m_losses.is_guessed =
            m_losses.is_guessed || (!number_of(code, text) && !numbers.operations.is_sure());
        return numbers.operation(text);
    case Code::request:
        return numbers.request(number);
    default:
        return nothing(code);
    }
}

std::int64_t ArgumentWriter::constant(Code code, std::string_view name)
{
    const auto number = number_of(code, name);
    m_losses.is_missing = m_losses.is_missing || !number;
    return number.value_or(0);
}

/// The files have no place for sums: of those the one that tells how the file is accessed.
std::int64_t ArgumentWriter::file_mode(std::string_view names)
{
    if (const auto number = number_of(Code::file_mode, names))
        return *number;
    std::int64_t access = 0;
    while (!names.empty()) {
        const std::string_view name = take(names, '|');
        if (name == "RDONLY" || name == "RDWR" || name == "WRONLY")
            access = number_of(Code::file_mode, name).value_or(0);
    }
    m_losses.is_missing = true;
    return access;
}

std::int64_t ArgumentWriter::sum_of_constants(Code code, std::string_view names)
{
    std::int64_t sum = 0;
    while (!names.empty())
        sum |= constant(code, take(names, '|'));
    return sum;
}

std::int64_t ArgumentWriter::integer(const Argument& argument, const Source& source, std::string_view text,
                                     std::optional<std::int64_t> number)
{
    constexpr std::int64_t success = 1; // among the errors of spawned processes
    if (!number && text == "MPI_DISTRIBUTE_DFLT_DARG")
        return m_process.native.default_distribution;
    if (!number && argument.name == "errcodes")
        return text == "MPI_SUCCESS" ? success : error_class(text);
    if (!number && text.starts_with("MPI_ERR_"))
        return error_class(text);
    if (!number && argument.name == "key")
        return m_process.native.key(text).value_or(0);
    if (!number)
        return 0;
    if (source.kind == SourceKind::undefined && *number == -1)
        return undefined;
    return is_translated(m_call->facts, source.name) ? rank(source, *number, true) : *number;
}

std::int64_t ArgumentWriter::rank(const Source& source, std::int64_t global, bool is_translated)
{
    constexpr std::int64_t no_process = -2, root = -3;
    const bool is_peer = source.name != "rootRank"; // of collective calls DUMPI keeps what the program passed
    if (global == no_process)
        return is_peer ? root_rank : m_process.native.no_process;
    if (global == root)
        return is_peer ? root_rank : m_process.native.root;
    if (!is_translated || global < 0)
        return global;
    const Members& members = members_of(source);
    auto rank = source.name == "localLeader" ? members.rank(global) : members.peer(m_process.rank, global);
    if (!rank)
        rank = members.rank(global);
    m_losses.is_missing = m_losses.is_missing || !rank;
    return rank.value_or(global);
}

const Members& ArgumentWriter::members_of(const Source& source) const
{
    const Element& call = m_call->call;
    if (call.has("wid"))
        return m_process.communicators.members(m_process.objects.window(m_process.rank, call));
    return m_process.communicators.members(m_process.communicator(
        call, source.name == "remoteLeader" ? AttributeName("peerCid") : AttributeName("cid")));
}

// --- arrays ---

void ArgumentWriter::write_array(const Argument& argument, const Source& source)
{
    switch (source.kind) {
    case SourceKind::attribute:
    case SourceKind::undefined:
        if (argument.dimensions == 2)
            return write_ranges(source);
        return write_list(argument, source);
    case SourceKind::children:
        return write_children(argument, source);
    case SourceKind::member_children:
        return write_members(argument, source);
    case SourceKind::type_rows:
        return write_rows(argument, source);
    case SourceKind::special:
        return write_special_array(argument, source);
    default:
        m_bytes->number(std::uint32_t{0});
    }
}

void ArgumentWriter::write_list(const Argument& argument, const Source& source)
{
    std::string_view list = m_call->call.find(source.name).value_or("");
    m_bytes->number(static_cast<std::uint32_t>(element_count(list)));
    for (std::size_t left = element_count(list); left > 0; --left) {
        const std::string_view text = take(list, ';');
        put(argument, value(argument, source, text, number_in(text)));
    }
}

void ArgumentWriter::write_children(const Argument& argument, const Source& source)
{
    const auto is_one = [&](const Element& child) { return child.name == source.child; };
    m_bytes->number(static_cast<std::uint32_t>(std::ranges::count_if(m_call->children, is_one)));
    for (const Element& child : m_call->children) {
        if (!is_one(child))
            continue;
        if (argument.code == Code::text)
            m_bytes->text<std::uint32_t>(child.find(source.name).value_or(""));
        else
            put(argument, value(argument, source, child, source.name));
    }
}

void ArgumentWriter::write_members(const Argument& argument, const Source& source)
{
    const std::size_t count = member_count();
    const bool is_one_for_all = !m_call->facts.lists_sends && !m_call->facts.lists_receives;
    std::vector<std::int64_t> values(count, is_one_for_all ? m_call->call.integer("count").value_or(0)
                                            : argument.code == Code::datatype ? null_datatype
                                                                              : 0);
    const std::string_view name =
        source.child == "Send" && m_call->call.has("inPlace") ? "Recv" : source.child;
    const Members& members = m_process.communicators.members(m_process.communicator(m_call->call));
    for (const Element& child : m_call->children) {
        const auto global = child.integer("rank");
        if (child.name != name || !global)
            continue;
        auto place = members.peer(m_process.rank, *global);
        if (!place)
            place = members.rank(*global);
        if (place && *place >= 0 && static_cast<std::size_t>(*place) < count)
            values[static_cast<std::size_t>(*place)] = value(argument, source, child, source.name);
    }
    m_bytes->number(static_cast<std::uint32_t>(count));
    for (const std::int64_t value : values)
        put(argument, value);
}

void ArgumentWriter::write_rows(const Argument& argument, const Source& source)
{
    const Datatype& type = *described_type();
    if (is_indexed(type))
        return write_blocks(argument, source);
    m_bytes->number(static_cast<std::uint32_t>(type.rows.size()));
    for (const Element& row : type.rows)
        put(argument, value(argument, source, row, source.name));
}

void ArgumentWriter::write_blocks(const Argument& argument, const Source& source)
{
    constexpr std::int64_t most = 1 << 26; // a project may say anything
    std::vector<std::int64_t> values;
    const bool is_read = for_each_blocks(*described_type(), [&](const Blocks& blocks) {
        if (blocks.count > most - std::ssize(values))
            return false;
        for (std::int64_t i = 0; i < blocks.count; ++i)
            values.push_back(source.name == "len" ? blocks.length : blocks.displacement + i * blocks.step);
        return true;
    });
    m_losses.is_missing = m_losses.is_missing || !is_read;
    m_bytes->number(static_cast<std::uint32_t>(values.size()));
    for (const std::int64_t number : values)
        put(argument, value(argument, source, "", number));
}

/// `0,6,2;`: first, last and stride of each.
void ArgumentWriter::write_ranges(const Source& source)
{
    static const Argument number;
    std::string_view list = m_call->call.find(source.name).value_or("");
    m_bytes->number(static_cast<std::uint32_t>(element_count(list)));
    for (std::size_t left = element_count(list); left > 0; --left) {
        std::string_view range = take(list, ';');
        m_bytes->number(std::uint32_t{3});
        for (int i = 0; i < 3; ++i)
            put(number, number_in(take(range, ',')).value_or(0));
    }
}

void ArgumentWriter::write_special_array(const Argument& argument, const Source& source)
{
    if (source.special == Special::argvs)
        return write_commands();
    if (source.special == Special::argv) {
        m_bytes->number(static_cast<std::uint32_t>(m_process.argv.size()));
        for (const std::string& word : m_process.argv)
            m_bytes->text<std::uint32_t>(word);
        return;
    }
    static const std::vector<OfferedRequest> none_offered;
    static const std::vector<std::size_t> none_ended;
    if (source.special == Special::indices) {
        const auto& ended = m_call->ended != nullptr ? *m_call->ended : none_ended;
        m_bytes->number(static_cast<std::uint32_t>(ended.size()));
        for (const std::size_t place : ended)
            put(argument, static_cast<std::int64_t>(place));
        return;
    }
    const auto& offered = m_call->offered != nullptr ? *m_call->offered : none_offered;
    m_bytes->number(static_cast<std::uint32_t>(offered.size()));
    for (const OfferedRequest& request : offered)
        put(argument, request.number);
}

/// Behind each `Command` are its arguments.
void ArgumentWriter::write_commands()
{
    const auto& children = m_call->children;
    const auto is_command = [](const Element& child) { return child.name == "Command"; };
    m_bytes->number(static_cast<std::uint32_t>(std::ranges::count_if(children, is_command)));
    for (auto command = std::ranges::find_if(children, is_command); command != children.end();) {
        const auto next = std::find_if(command + 1, children.end(), is_command);
        const auto is_argument = [](const Element& child) { return child.name == "Arg"; };
        m_bytes->number(static_cast<std::uint32_t>(std::count_if(command, next, is_argument)));
        for (; command != next; ++command)
            if (is_argument(*command))
                m_bytes->text<std::uint32_t>(command->find("value").value_or(""));
    }
}

// --- statuses ---

Status ArgumentWriter::status_of(const Element& what, const AttributeName& size,
                                 const Communicator* communicator) const
{
    Status status;
    status.bytes = what.integer(size).value_or(0);
    status.is_cancelled = what.has("cancelled");
    if (const auto error = what.find("rc"); error && what.name == "For")
        status.error = error_class(*error);
    status.tag = what.integer("fromTag").value_or(dumpi::any_tag);
    const auto source = what.integer("fromRank");
    if (!source)
        return status;
    const Members& members = m_process.communicators.members(communicator);
    const std::int64_t rank = *source < 0 ? std::max<std::int64_t>(*source, root_rank)
                                          : members.peer(m_process.rank, *source).value_or(*source);
    status.source = static_cast<std::int32_t>(rank);
    return status;
}

void ArgumentWriter::write_statuses(const Source& source)
{
    const Element& call = m_call->call;
    std::vector<Status> statuses;
    const std::vector<OfferedRequest>* offered = m_call->offered;
    const bool has_ended = call.integer("flag").value_or(1) != 0;
    switch (source.special) {
    case Special::received:
        if (has_ended) {
            const std::string_view size = m_call->facts.received_size;
            statuses.push_back(status_of(call, size.empty() ? AttributeName("size") : AttributeName(size),
                                         m_process.communicator(call)));
        }
        break;
    case Special::transferred:
        statuses.emplace_back();
        statuses.back().bytes =
            m_call->transferred.value_or(call.integer("actual").value_or(call.integer("size").value_or(0)));
        break;
    case Special::status: // of one of several there is none if nothing has ended
        if (has_ended && offered != nullptr && !(call.has("index") && m_call->ended->empty()))
            statuses.push_back(m_call->ended->empty()
                                   ? Status()
                                   : (*offered)[m_call->ended->front()].status.value_or(Status()));
        break;
    case Special::statuses:
        for (std::size_t i = 0; has_ended && offered != nullptr && i < offered->size(); ++i)
            statuses.push_back((*offered)[i].status.value_or(Status()));
        break;
    case Special::ended:
        for (std::size_t i = 0; offered != nullptr && i < m_call->ended->size(); ++i)
            statuses.push_back((*offered)[(*m_call->ended)[i]].status.value_or(Status()));
        break;
    default:
        break;
    }
    m_bytes->number(static_cast<std::uint32_t>(statuses.size()));
    for (const Status& status : statuses)
        write_status(status);
}

void ArgumentWriter::write_status(const Status& status)
{
    static const Argument number;
    put(number, status.bytes);
    put(number, status.source);
    m_bytes->number(static_cast<std::int8_t>(status.is_cancelled))
        .number(static_cast<std::int8_t>(status.error));
    put(number, status.tag);
}

// --- the communicator ---

std::size_t ArgumentWriter::member_count() const
{
    const Communicator* communicator = m_process.communicator(m_call->call);
    return static_cast<std::size_t>(m_process.communicators.members(communicator).group_size(m_process.rank));
}

std::int64_t ArgumentWriter::my_rank() const
{
    const Communicator* communicator = m_process.communicator(m_call->call);
    return m_process.communicators.members(communicator).rank(m_process.rank).value_or(0);
}

const Datatype* ArgumentWriter::described_type() const
{
    return m_process.objects.datatype(m_process.rank, m_call->call);
}

} // namespace hdtrace::exporter::dumpi
