#include "hdtrace/checking/argument_rules.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/checking/reductions.h"

namespace hdtrace {
namespace {

using Wrong = std::optional<WrongArgument>;

bool communicates(const CallFacts& facts)
{
    return facts.sends != SendMode::none || facts.receives != ReceiveKind::none ||
           facts.probes != ProbeKind::none || facts.access != WindowAccess::none ||
           (facts.collective != CollectiveKind::none && facts.call_class == CallClass::collective) ||
           facts.file == FileAccess::read || facts.file == FileAccess::write;
}

/// MPI refused the call, or ended the process in it, perhaps.
bool is_refused(const Call& call)
{
    return call.state.is_unfinished() || call.has_failed();
}

/// What a call that knows its arguments always has.
bool has_arguments(const State& call)
{
    return std::ranges::any_of(call.attributes, [](const Attribute& attribute) {
        return attribute.name != "site" && attribute.name != "unfinished" && attribute.name != "rc";
    });
}

std::string said(const AttributeName& name, std::int64_t value)
{
    return std::string(name.text()) + "=" + std::to_string(value);
}

/// The tracer has not seen the communicator or the datatype before, or it does not exist any more.
Wrong unknown_object(const Call& call, const ArgumentContext& context)
{
    const CallFacts& facts = call.facts;
    const bool needs_any = communicates(facts) && facts.receives != ReceiveKind::probed;
    if (!call.state.is_unfinished() || !needs_any || has_arguments(call.state))
        return std::nullopt;
    const bool has_type = facts.collective != CollectiveKind::barrier && facts.probes == ProbeKind::none;
    const bool freed_type = context.has_freed(call.trace.rank, ObjectKind::datatype);
    const bool freed_comm = context.has_freed(call.trace.rank, ObjectKind::communicator);
    if (has_type && freed_type && !freed_comm)
        return WrongArgument{FindingKind::invalid_datatype, "was given a datatype that was freed"};
    if (freed_comm && (!has_type || !freed_type))
        return WrongArgument{FindingKind::invalid_communicator, "was given a communicator that was freed"};
    return std::nullopt;
}

/// Where it stands for the error handler of files that are not open yet (MPI 4.1, 9.3.4).
bool is_for_all_files(const Call& call, const AttributeName& attribute)
{
    return attribute.text() == "fid" && call.state.name.ends_with("_errhandler");
}

Wrong null_object(const Call& call, const ArgumentContext&)
{
    struct Null {
        AttributeName attribute;
        FindingKind kind;
        std::string_view name;
    };
    static constexpr Null nulls[] = {
        {"cid", FindingKind::invalid_communicator, "MPI_COMM_NULL"},
        {"peerCid", FindingKind::invalid_communicator, "MPI_COMM_NULL"},
        {"tid", FindingKind::invalid_datatype, "MPI_DATATYPE_NULL or a datatype that does not exist"},
        {"recvtid", FindingKind::invalid_datatype, "MPI_DATATYPE_NULL or a datatype that does not exist"},
        {"targetTid", FindingKind::invalid_datatype, "MPI_DATATYPE_NULL or a datatype that does not exist"},
        {"oldTid", FindingKind::invalid_datatype, "MPI_DATATYPE_NULL or a datatype that does not exist"},
        {"etid", FindingKind::invalid_datatype, "MPI_DATATYPE_NULL or a datatype that does not exist"},
        {"filetid", FindingKind::invalid_datatype, "MPI_DATATYPE_NULL or a datatype that does not exist"},
        {"wid", FindingKind::invalid_window, "MPI_WIN_NULL or a window that does not exist"},
        {"fid", FindingKind::invalid_file, "MPI_FILE_NULL or a file that is not open"},
    };
    for (const Null& null : nulls) {
        // What was matched by a probe names no communicator itself.
        const bool is_of_message =
            null.attribute.text() == "cid" && call.facts.receives == ReceiveKind::probed;
        const bool may_be_null = null.attribute.text() == call.facts.made_id ||
                                 is_for_all_files(call, null.attribute) || is_of_message;
        if (!may_be_null && call.state.integer(null.attribute) == -1)
            return WrongArgument{null.kind, "was given " + std::string(null.name)};
    }
    return std::nullopt;
}

/// Whether an access only gets: whatever is told of its origin is not looked at (MPI 4.1, 12.3.4).
bool has_no_origin(const Call& call)
{
    return call.facts.access != WindowAccess::none && call.state.find("op") == "MPI_NO_OP";
}

/// MPI libraries let it pass where they need not look at it.
Wrong null_type_of_data(const Call& call, const ArgumentContext&)
{
    struct Data {
        AttributeName count, tid;
    };
    static constexpr Data all_data[] = {{"count", "tid"}, {"recvCount", "recvtid"}};
    for (const auto& [count, tid] : std::span(all_data).subspan(has_no_origin(call) ? 1 : 0))
        if (call.state.integer(count).value_or(0) > 0 && call.state.integer(tid) == -1)
            return WrongArgument{FindingKind::invalid_datatype, "was given MPI_DATATYPE_NULL"};
    return std::nullopt;
}

/// What stands as a number in the trace is none of the constants.
Wrong unknown_constant(const Call& call, const ArgumentContext&)
{
    static constexpr AttributeName names[] = {"assert", "lockType", "whence", "amode", "splitType"};
    for (const AttributeName& name : names)
        if (const auto value = call.state.find(name);
            value && *value != "0" && value->find_first_of("0123456789") != std::string::npos)
            return WrongArgument{FindingKind::invalid_argument,
                                 "was given a constant that MPI does not know, " + std::string(name.text()) +
                                     "=" + std::string(*value)};
    return std::nullopt;
}

/// Open MPI lets it pass in MPI_Win_post.
Wrong null_group(const Call& call, const ArgumentContext&)
{
    static constexpr AttributeName groups[] = {"ranks", "group"};
    for (const AttributeName& name : groups)
        if (call.state.find(name) == "MPI_GROUP_NULL")
            return WrongArgument{FindingKind::invalid_group, "was given MPI_GROUP_NULL"};
    return std::nullopt;
}

/// These wait for nobody, and nothing else can be wrong with them.
Wrong wrong_group(const Call& call, const ArgumentContext&)
{
    const bool is_of_group =
        call.state.name.starts_with("Group_") || call.facts.synchronisation == WindowSynchronisation::post;
    if (!call.state.is_unfinished() || !is_of_group)
        return std::nullopt;
    return WrongArgument{FindingKind::invalid_group, "was given a group that does not exist, or wrong ranks"};
}

Wrong negative_count(const Call& call, const ArgumentContext&)
{
    static constexpr AttributeName counts[] = {"count", "recvCount", "targetCount"};
    for (const AttributeName& name : counts)
        if (const auto count = call.state.integer(name); count && *count < 0)
            return WrongArgument{FindingKind::invalid_count,
                                 "was given a negative count, " + said(name, *count)};
    for (const Element& child : call.state.children)
        if (child.name == "Send" || child.name == "Recv")
            if (const auto count = child.integer("count"); count && *count < 0)
                return WrongArgument{FindingKind::invalid_count,
                                     "was given a negative count for a member, " + said("count", *count)};
    return std::nullopt;
}

/// MPI_UNDEFINED is -1 in the trace. MPICH lets the others pass.
Wrong negative_color(const Call& call, const ArgumentContext&)
{
    const auto color = call.state.integer("color");
    return color && *color < -1
               ? Wrong({FindingKind::invalid_argument, "was given a negative " + said("color", *color)})
               : std::nullopt;
}

Wrong negative_size(const Call& call, const ArgumentContext&)
{
    const auto size = call.state.integer("size");
    return size && *size < 0
               ? Wrong({FindingKind::invalid_count, "was given a negative size, " + said("size", *size)})
               : std::nullopt;
}

Wrong uncommitted_type(const Call& call, const ArgumentContext& context)
{
    if (!context.has_uncommitted())
        return std::nullopt;
    const auto is_uncommitted = [&](const Element& element, const AttributeName& name) {
        const auto tid = element.integer(name);
        return tid && context.is_uncommitted(call.trace.rank, *tid);
    };
    static constexpr AttributeName of_data[] = {"tid", "recvtid", "targetTid"},
                                   of_view[] = {"etid", "filetid"};
    bool found = false;
    for (const AttributeName& name : of_data)
        found = found || is_uncommitted(call.state, name);
    for (const AttributeName& name : of_view)
        found = found || (call.facts.file == FileAccess::view && is_uncommitted(call.state, name));
    for (const Element& child : call.state.children)
        found = found || ((child.name == "Send" || child.name == "Recv") && is_uncommitted(child, "tid"));
    return found ? Wrong({FindingKind::invalid_datatype, "uses a datatype that was not committed"})
                 : std::nullopt;
}

/// MPI_DISPLACEMENT_CURRENT of all MPI libraries that have ROMIO, or learnt from it.
constexpr std::int64_t current_displacement = -54'278'278;

/// In bytes or elementary types of a file. Where these are told the bytes are what MPI makes of them.
Wrong negative_offset(const Call& call, const ArgumentContext&)
{
    const bool names_place =
        call.facts.file == FileAccess::view || call.facts.pointer == FilePointer::explicit_offset;
    const bool names_size = call.state.name == "File_set_size" || call.state.name == "File_preallocate";
    if (!names_place && !names_size)
        return std::nullopt;
    static constexpr AttributeName elements = "etOffset", bytes = "offset", size = "size";
    const AttributeName& name = names_size ? size : call.state.has(elements) ? elements : bytes;
    const auto value = call.state.integer(name);
    const bool is_current = call.facts.file == FileAccess::view && value == current_displacement;
    if (!value || *value >= 0 || is_current)
        return std::nullopt;
    return WrongArgument{FindingKind::invalid_argument, "was given a negative " + said(name, *value)};
}

/// To a window.
bool gives_memory(const CallFacts& facts)
{
    return facts.makes == ObjectKind::window || facts.name == "Win_attach";
}

bool names_buffers(const CallFacts& facts)
{
    return communicates(facts) || gives_memory(facts);
}

/// "0:4000;", not "0:1x95;": datatypes with gaps may have absolute addresses, and go with MPI_BOTTOM.
bool begins_with_null(std::string_view buffers)
{
    return buffers.starts_with("0:") &&
           buffers.substr(0, buffers.find(';')).find('x') == std::string_view::npos;
}

/// The tracer tells it of programs that are checked: a buffer at address 0, of which bytes are used.
Wrong null_buffer(const Call& call, const ArgumentContext&)
{
    const auto has_peer = [&](const AttributeName& name) {
        return call.state.integer(name).value_or(proc_null) > proc_null;
    };
    static constexpr AttributeName reads = "reads", writes = "writes";
    if (!call.state.attributes.may_have(reads.bits() | writes.bits()))
        return std::nullopt;
    const bool is_file = call.facts.file == FileAccess::read || call.facts.file == FileAccess::write;
    const bool is_access =
        call.facts.access != WindowAccess::none && (has_peer("toRank") || has_peer("fromRank"));
    const bool sends = call.facts.sends != SendMode::none && has_peer("toRank");
    const bool receives = call.facts.receives == ReceiveKind::posted && has_peer("fromRank");
    for (const auto& [name, is_used] : {std::pair(reads, is_file || is_access || sends),
                                        std::pair(writes, is_file || is_access || receives)})
        if (const auto list = call.state.find(name);
            (is_used || gives_memory(call.facts)) && list && begins_with_null(*list))
            return WrongArgument{FindingKind::invalid_buffer, "was given a null pointer as its buffer"};
    return std::nullopt;
}

/// MPI libraries let it pass if they can send the message at once.
Wrong too_small_to_buffer(const Call& call, const ArgumentContext& context)
{
    const auto size = call.state.integer("size");
    const auto room = context.attached_bytes(call.trace.rank, call.state.integer("cid").value_or(-1));
    if (!size || !room || *size <= *room || call.state.integer("toRank").value_or(proc_null) <= proc_null)
        return std::nullopt;
    return WrongArgument{FindingKind::invalid_buffer, "sends " + std::to_string(*size) +
                                                          " bytes, but the attached buffer has " +
                                                          std::to_string(*room)};
}

Wrong wrong_tag(const Call& call, const ArgumentContext& context)
{
    const auto to = call.state.integer("toTag");
    if (call.facts.sends != SendMode::none && to && *to < 0)
        return WrongArgument{FindingKind::invalid_tag,
                             "sends with a tag that is negative, " + said("toTag", *to)};
    const auto from = call.state.integer("fromTag");
    const auto asked = from ? from : call.state.integer("tag");
    const bool receives = call.facts.receives == ReceiveKind::posted || call.facts.probes != ProbeKind::none;
    if (receives && asked && *asked < any_tag)
        return WrongArgument{FindingKind::invalid_tag,
                             "asks for a tag that is negative, " + said("fromTag", *asked)};
    const auto largest = context.largest_tag(call.trace.rank);
    // No MPI library permits more, and some that refuse tags do not tell their bound here.
    constexpr std::int64_t usual_bound = (std::int64_t{1} << 28) - 1;
    const std::int64_t tag =
        std::max(call.facts.sends != SendMode::none ? to.value_or(0) : 0, receives ? asked.value_or(0) : 0);
    if (largest ? tag > *largest : tag > usual_bound && is_refused(call))
        return WrongArgument{FindingKind::invalid_tag, "uses a tag above MPI_TAG_UB, " + std::to_string(tag)};
    return std::nullopt;
}

/// Ranks of other worlds are numbers below the constants; their processes need not be in the project. What
/// was made of the world alone has none of them.
bool may_have_others(const Project& project, const Communicator& communicator)
{
    const bool is_between_worlds = communicator.uid.find_first_not_of("W/@0123456789") != std::string::npos;
    return !project.worlds.empty() || is_between_worlds || communicator.is_inter();
}

bool exists(const ArgumentContext& context, const Communicator& communicator, std::int64_t rank)
{
    return context.has_member(communicator, rank) ||
           (rank <= other_world && may_have_others(context.project().project, communicator));
}

Wrong wrong_rank(const Call& call, const ArgumentContext& context)
{
    const OpenedProject& project = context.project();
    const Communicator* communicator = project.objects.communicator(call.trace.rank, call.state);
    if (!communicator || call.facts.members == CollectiveMembers::group)
        return std::nullopt;
    const auto without = [&](std::string_view does, std::int64_t rank) {
        return WrongArgument{FindingKind::invalid_rank, std::string(does) + " rank " + std::to_string(rank) +
                                                            ", which " + project.label_of(*communicator) +
                                                            " does not have"};
    };
    const auto to = call.state.integer("toRank");
    if (call.facts.sends != SendMode::none && to && *to != proc_null && !exists(context, *communicator, *to))
        return without("sends to", *to);
    const bool receives = call.facts.receives == ReceiveKind::posted || call.facts.probes != ProbeKind::none;
    const auto from =
        call.state.find("fromRank") ? call.state.integer("fromRank") : call.state.integer("source");
    if (receives && from && *from != proc_null && *from != any_rank && !exists(context, *communicator, *from))
        return without("asks for a message of", *from);
    return std::nullopt;
}

Wrong wrong_target(const Call& call, const ArgumentContext& context)
{
    const Window* window = context.project().objects.window(call.trace.rank, call.state);
    if (!window)
        return std::nullopt;
    const auto to = call.state.integer("toRank");
    const auto target = to ? to : call.state.integer("fromRank");
    if (!target || *target == proc_null || context.has_member(*window, *target))
        return std::nullopt;
    return WrongArgument{FindingKind::invalid_rank,
                         "accesses rank " + std::to_string(*target) + ", which the window does not have"};
}

Wrong wrong_root(const Call& call, const ArgumentContext& context)
{
    const Communicator* communicator = context.project().objects.communicator(call.trace.rank, call.state);
    const auto root = call.state.integer("rootRank");
    if (!communicator || !root || may_have_others(context.project().project, *communicator) ||
        context.has_member(*communicator, *root))
        return std::nullopt;
    return WrongArgument{FindingKind::invalid_root, "names root " + std::to_string(*root) + ", which " +
                                                        context.project().label_of(*communicator) +
                                                        " does not have"};
}

Wrong wrong_operation(const Call& call, const ArgumentContext& context)
{
    const auto op = call.state.find("op");
    if (!op ||
        !(call.facts.reduces || call.facts.access != WindowAccess::none || call.state.name == "Reduce_local"))
        return std::nullopt;
    const auto tid = call.state.integer("tid");
    const Datatype* datatype = tid ? context.project().objects.datatype(call.trace.rank, *tid) : nullptr;
    const auto why = why_not_defined(*op, datatype, call.facts.access != WindowAccess::none);
    return why ? Wrong({FindingKind::invalid_operation, *why}) : std::nullopt;
}

Wrong wrong_request(const Call& call, const ArgumentContext&)
{
    if (call.facts.call_class == CallClass::other)
        return std::nullopt;
    const bool has_any = std::ranges::any_of(call.state.children, [](const Element& child) {
        return child.name == "Pending" || child.name == "For" || child.name == "Start";
    });
    if (call.facts.progress == CallProgress::activates && !has_any && !call.state.find("initRid"))
        return WrongArgument{FindingKind::invalid_request, "starts a request that is not a persistent one"};
    // What waits for nothing returns at once, if MPI takes it.
    if (call.facts.progress == CallProgress::waits && !has_any && call.state.is_unfinished())
        return WrongArgument{FindingKind::invalid_request,
                             "waits for a request that does not exist or was not started"};
    if (call.facts.progress == CallProgress::releases && call.state.integer("rid").value_or(-1) < 0)
        return WrongArgument{FindingKind::invalid_request, "frees a request that does not exist"};
    return std::nullopt;
}

const CallFacts* const type_commit = find_call("Type_commit");
const CallFacts* const comm_get_attr = find_call("Comm_get_attr");

/// Whether a rule can find something wrong with calls of a function.
using Concerns = bool (*)(const CallFacts&);

bool all_calls(const CallFacts&)
{
    return true;
}

bool names_peers(const CallFacts& facts)
{
    return facts.sends != SendMode::none || facts.receives != ReceiveKind::none ||
           facts.probes != ProbeKind::none;
}

bool uses_window(const CallFacts& facts)
{
    return facts.access != WindowAccess::none || facts.synchronisation != WindowSynchronisation::none;
}

/// Not what is prepared: another buffer may be attached when it starts.
bool sends_buffered(const CallFacts& facts)
{
    return facts.sends == SendMode::buffered && facts.progress != CallProgress::prepares;
}

bool has_root(const CallFacts& facts)
{
    return facts.has_root;
}

/// Also Reduce_local, which is no collective call.
bool has_operation(const CallFacts& facts)
{
    return facts.reduces || facts.access != WindowAccess::none || facts.call_class == CallClass::collective;
}

bool uses_file(const CallFacts& facts)
{
    return facts.call_class == CallClass::file;
}

bool uses_datatypes(const CallFacts& facts)
{
    return communicates(facts) || facts.file == FileAccess::view;
}

bool makes_communicator(const CallFacts& facts)
{
    return facts.makes == ObjectKind::communicator;
}

bool is_given_size(const CallFacts& facts)
{
    return facts.makes == ObjectKind::window || facts.attaches;
}

bool may_be_given_group(const CallFacts& facts)
{
    return makes_communicator(facts) || facts.name.starts_with("Group_") ||
           facts.synchronisation == WindowSynchronisation::post ||
           facts.synchronisation == WindowSynchronisation::start;
}

struct Rule {
    Wrong (*find)(const Call&, const ArgumentContext&);
    Concerns concerns;
    bool is_for_refused = false; ///< only
};
/// In the order in which they are looked at.
constexpr Rule rules[] = {
    {unknown_object, communicates, true},
    {null_object, all_calls, true},
    {null_type_of_data, communicates},
    {unknown_constant, all_calls, true},
    {negative_count, communicates},
    {negative_size, is_given_size},
    {negative_color, makes_communicator},
    {negative_offset, uses_file},
    {null_buffer, names_buffers},
    {too_small_to_buffer, sends_buffered},
    {uncommitted_type, uses_datatypes},
    {wrong_tag, names_peers},
    {wrong_rank, names_peers},
    {wrong_target, uses_window},
    {wrong_root, has_root},
    {wrong_operation, has_operation},
    {wrong_request, all_calls, true},
    {null_group, may_be_given_group},
    {wrong_group, all_calls, true},
};

} // namespace

void ArgumentContext::leave(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    if (call.has_failed() || call.state.is_unfinished())
        return;
    if (&call.facts == type_commit)
        m_uncommitted.erase({rank, call.state.integer("tid").value_or(-1)});
    else if (&call.facts == comm_get_attr)
        note_attribute(call);
    else if (call.facts.attaches)
        note_attached(call);
    else if (call.facts.detaches)
        m_attached.erase({rank, call.state.integer("cid").value_or(-1)});
}

/// Where MPI makes room itself (MPI_BUFFER_AUTOMATIC) the size says nothing, and mostly is 0. What a session
/// has is kept as if it were the whole process's: the larger one counts.
void ArgumentContext::note_attached(const Call& call)
{
    const std::int64_t size = call.state.integer("size").value_or(0);
    if (size <= 0)
        return;
    std::int64_t& attached = m_attached[{call.trace.rank, call.state.integer("cid").value_or(-1)}];
    attached = std::max(attached, size);
}

void ArgumentContext::note_attribute(const Call& call)
{
    const auto key = call.state.find("comm_keyval");
    const auto value = call.state.integer("value");
    if (key && value && *key == "MPI_TAG_UB")
        m_largest_tag[call.trace.rank] = *value;
}

/// A copy of a datatype that is committed is committed, too, and those of Fortran's kinds are MPI's own.
void ArgumentContext::made(const Call& call, ObjectKind kind, std::int64_t id)
{
    if (kind != ObjectKind::datatype || id < 0)
        return;
    const Datatype* datatype = m_project.objects.datatype(call.trace.rank, id);
    const bool is_ready = !datatype || datatype->combiner == "NAMED" ||
                          datatype->combiner.starts_with("F90_") ||
                          (datatype->combiner == "DUP" &&
                           !is_uncommitted(call.trace.rank, call.state.integer("oldTid").value_or(-1)));
    if (!is_ready && call.state.name != "Type_commit" && call.state.name != "Type_get_contents")
        m_uncommitted.emplace(call.trace.rank, id);
}

void ArgumentContext::freed(const Call& call, ObjectKind kind, std::int64_t)
{
    m_freed.emplace(call.trace.rank, kind);
}

/// As bits.
std::uint32_t ArgumentContext::rules_of(const CallFacts& facts, bool is_refused) const
{
    const auto [found, is_new] = m_rules.try_emplace(&facts);
    for (std::size_t i = 0; is_new && i < std::size(rules); ++i)
        if (rules[i].concerns(facts)) {
            found->second.if_refused |= std::uint32_t{1} << i;
            found->second.always |= rules[i].is_for_refused ? 0 : std::uint32_t{1} << i;
        }
    return is_refused ? found->second.if_refused : found->second.always;
}

std::optional<std::int64_t> ArgumentContext::largest_tag(std::int64_t rank) const
{
    const auto found = m_largest_tag.find(rank);
    return found == m_largest_tag.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> ArgumentContext::attached_bytes(std::int64_t rank, std::int64_t cid) const
{
    auto found = m_attached.find({rank, cid});
    if (found == m_attached.end())
        found = m_attached.find({rank, -1});
    return found == m_attached.end() ? std::nullopt : std::optional(found->second);
}

std::optional<WrongArgument> find_wrong_argument(const Call& call, const ArgumentContext& context)
{
    if (call.state.find("outside")) // nobody looked at its arguments
        return std::nullopt;
    for (std::uint32_t left = context.rules_of(call.facts, is_refused(call)); left != 0; left &= left - 1)
        if (Wrong wrong = rules[std::countr_zero(left)].find(call, context))
            return wrong;
    return std::nullopt;
}

} // namespace hdtrace
