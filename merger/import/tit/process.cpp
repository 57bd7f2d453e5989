#include "merger/import/tit/process.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "hdtrace/format/nanoseconds.h"

namespace hdtrace::importer::tit {

namespace {

constexpr std::int64_t any_source = -555, any_tag = -444, no_process = -666;
constexpr std::int64_t byte_code = 6, double_code = 0, null_code = -1;

struct NamedType {
    std::string_view name;
    std::int64_t size;
};

/// In the order of their numbers; sizes are those of SimGrid on 64-bit machines.
constexpr NamedType types[] = {
    {"MPI_DOUBLE", 8},
    {"MPI_INT", 4},
    {"MPI_CHAR", 1},
    {"MPI_SHORT", 2},
    {"MPI_LONG", 8},
    {"MPI_FLOAT", 4},
    {"MPI_BYTE", 1},
    {"MPI_LONG_LONG", 8},
    {"MPI_SIGNED_CHAR", 1},
    {"MPI_UNSIGNED_CHAR", 1},
    {"MPI_UNSIGNED_SHORT", 2},
    {"MPI_UNSIGNED", 4},
    {"MPI_UNSIGNED_LONG", 8},
    {"MPI_UNSIGNED_LONG_LONG", 8},
    {"MPI_LONG_DOUBLE", 16},
    {"MPI_WCHAR", 4},
    {"MPI_C_BOOL", 1},
    {"MPI_INT8_T", 1},
    {"MPI_INT16_T", 2},
    {"MPI_INT32_T", 4},
    {"MPI_INT64_T", 8},
    {"MPI_UINT8_T", 1},
    {"MPI_UINT16_T", 2},
    {"MPI_UINT32_T", 4},
    {"MPI_UINT64_T", 8},
    {"MPI_C_FLOAT_COMPLEX", 8},
    {"MPI_C_DOUBLE_COMPLEX", 16},
    {"MPI_C_LONG_DOUBLE_COMPLEX", 32},
    {"MPI_AINT", 8},
    {"MPI_OFFSET", 8},
};

/// c, r: a count to send, to receive; C, R: one for each process; b: ignored; f: operations; o: the root, and
/// d, e: the datatypes to send and to receive, all three may be missing.
constexpr CollectiveForm forms[] = {
    {"barrier", "Barrier", ""},
    {"bcast", "Bcast", "cod"},
    {"reduce", "Reduce", "cfod"},
    {"allreduce", "Allreduce", "cfd"},
    {"alltoall", "Alltoall", "crde"},
    {"alltoallv", "Alltoallv", "bCbRde"},
    {"gather", "Gather", "crode"},
    {"gatherv", "Gatherv", "cRode"},
    {"allgather", "Allgather", "crde"},
    {"allgatherv", "Allgatherv", "cRde"},
    {"scatter", "Scatter", "crode"},
    {"scatterv", "Scatterv", "Crode"},
    {"reducescatter", "Reduce_scatter", "Rfd"},
    {"scan", "Scan", "cfd"},
    {"exscan", "Exscan", "cfd"},
};

/// What only the replay looks at.
constexpr std::string_view remarks[] = {"comm_size", "comm_split", "comm_dup", "location"};

std::int64_t rank_of(std::int64_t rank)
{
    return rank == any_source ? -1 : rank == no_process ? -2 : rank;
}

std::int64_t tag_of(std::int64_t tag)
{
    return tag == any_tag ? -1 : tag;
}

} // namespace

class Process::Arguments {
  public:
    Arguments(const Action& action, const ActionReader& reader) : m_action(action), m_reader(reader) {}

    bool has_more() const { return m_next < m_action.arguments.size(); }
    std::int64_t number() { return parsed(whole_number(next()), "a number"); }
    std::int64_t number_or(std::int64_t otherwise) { return has_more() ? number() : otherwise; }
    std::int64_t count()
    {
        const std::int64_t count = number();
        return count >= 0 ? count : fail("a count is not negative");
    }
    double operations() { return parsed(amount(next()), "an amount"); }
    [[noreturn]] std::int64_t fail(const std::string& what) const
    {
        m_reader.fail(m_action.name + ": " + what);
    }

  private:
    const std::string& next()
    {
        if (!has_more())
            fail("an argument is missing");
        return m_action.arguments[m_next++];
    }
    template <class Value> Value parsed(const std::optional<Value>& value, const std::string& what) const
    {
        if (!value)
            fail("'" + m_action.arguments[m_next - 1].substr(0, 40) + "' is not " + what);
        return *value;
    }

    const Action& m_action;
    const ActionReader& m_reader;
    std::size_t m_next = 0;
};

Process::Process(const Import& import, std::int64_t rank, std::int64_t size, double seconds_per_operation,
                 std::set<std::int64_t> unwaited)
    : m_import(import), m_rank(rank), m_size(size), m_seconds_per_operation(seconds_per_operation),
      m_unwaited(std::move(unwaited)), m_default_type(byte_code),
      m_process(import.traces, {.rank = rank, .size = size, .host = {}, .base = 0}), m_thread(m_process, 0)
{
    m_process.write_world();
}

void Process::add(const Action& action, const ActionReader& reader)
{
    Arguments arguments(action, reader);
    const bool is_known = add_local(action, arguments) || add_message(action, arguments) ||
                          add_completion(action, arguments) || add_collective(action, arguments);
    if (is_known)
        return;
    const bool is_remark = std::ranges::find(remarks, action.name) != std::end(remarks);
    m_import.account.dropped(is_remark ? "actions that say something to the replay only"
                                       : "actions that the replay does not have");
}

void Process::close()
{
    m_thread.close();
    m_process.close();
}

bool Process::add_local(const Action& action, Arguments& arguments)
{
    if (action.name == "compute") {
        compute(arguments.operations());
    } else if (action.name == "sleep") {
        m_now += m_seconds_per_operation > 0 ? arguments.operations() : 0;
    } else if (action.name == "init") {
        m_default_type = arguments.has_more() ? double_code : byte_code;
        State init = call("Init");
        write(init);
    } else if (action.name == "finalize") {
        State finalize = call("Finalize");
        write(finalize);
    } else
        return false;
    return true;
}

bool Process::add_message(const Action& action, Arguments& arguments)
{
    const bool is_started = action.name == "isend" || action.name == "irecv";
    if (action.name == "sendRecv") {
        exchange(arguments);
        return true;
    }
    if (!is_started && action.name != "send" && action.name != "recv")
        return false;
    const bool sends = action.name == "send" || action.name == "isend";
    const std::int64_t peer = rank_of(arguments.number()), tag = tag_of(arguments.number());
    const std::int64_t count = arguments.number();
    const std::int64_t type = arguments.number_or(m_default_type);
    if (count < (sends ? 0 : -1))
        arguments.fail("a count is not negative");
    const bool is_buffered = is_started && m_unwaited.contains(m_started);
    m_started += is_started ? 1 : 0;
    State state = call(is_buffered  ? "Bsend"
                       : is_started ? (sends ? "Isend" : "Irecv")
                                    : (sends ? "Send" : "Recv"));
    put(state, sends ? "toRank" : "fromRank", peer);
    put(state, sends ? "toTag" : "fromTag", tag);
    put(state, "cid", 0);
    if (count >= 0)
        add_type(state, "size", "count", "tid", count, type, arguments);
    if (is_started && !is_buffered)
        add_request(state, sends ? Message{m_rank, peer, tag} : Message{peer, m_rank, tag}, sends);
    write(state);
    return true;
}

void Process::add_request(State& call, const Message& message, bool sends)
{
    const std::int64_t size = call.integer("size").value_or(-1);
    put(call, "rid", m_next_rid);
    m_pending[message].push_back({m_next_rid++, sends ? std::nullopt : std::optional(message), size});
}

void Process::exchange(Arguments& arguments)
{
    const std::int64_t sent = arguments.count(), to = arguments.number(), received = arguments.count(),
                       from = arguments.number(), type = arguments.number(),
                       received_type = arguments.number();
    State state = call("Sendrecv");
    put(state, "toRank", rank_of(to));
    put(state, "toTag", 0);
    put(state, "fromRank", rank_of(from));
    put(state, "fromTag", 0);
    put(state, "cid", 0);
    add_type(state, "size", "count", "tid", sent, type, arguments);
    add_type(state, "recvSize", "recvCount", "recvtid", received, received_type, arguments);
    write(state);
}

Element Process::completion_of(const Request& request)
{
    Element completion{"For", {}};
    put(completion, "rid", request.rid);
    if (request.receives && request.receives->source != -1) {
        put(completion, "fromRank", request.receives->source);
        if (request.receives->tag != -1)
            put(completion, "fromTag", request.receives->tag);
    }
    if (request.receives && request.size >= 0)
        put(completion, "size", request.size);
    return completion;
}

bool Process::add_completion(const Action& action, Arguments& arguments)
{
    if (action.name == "waitall") {
        State state = call("Waitall");
        std::vector<const Request*> requests;
        for (const auto& [message, of_message] : m_pending)
            for (const Request& request : of_message)
                requests.push_back(&request);
        std::ranges::sort(requests, {}, &Request::rid);
        put(state, "count", std::ssize(requests));
        for (const Request* request : requests)
            state.children.push_back(completion_of(*request));
        m_pending.clear();
        write(state);
        return true;
    }
    if (action.name != "wait" && action.name != "test")
        return false;
    const std::int64_t source = rank_of(arguments.number()), destination = rank_of(arguments.number());
    const auto pending = m_pending.find({source, destination, tag_of(arguments.number())});
    if (action.name == "test") {
        m_import.account.approximated("tests: it is not known whether they found anything");
        return true;
    }
    if (pending == m_pending.end())
        arguments.fail("nothing was started that it could wait for");
    State state = call("Wait");
    state.children.push_back(completion_of(pending->second.front()));
    pending->second.pop_front();
    if (pending->second.empty())
        m_pending.erase(pending);
    write(state);
    return true;
}

bool Process::add_collective(const Action& action, Arguments& arguments)
{
    const auto form = std::ranges::find(forms, action.name, &CollectiveForm::action);
    if (form == std::end(forms))
        return false;
    State state = call(form->call);
    fill(state, *form, arguments);
    return true;
}

void Process::fill(State& state, const CollectiveForm& form, Arguments& arguments)
{
    std::int64_t sent = -1, received = -1, root = -1, type = m_default_type, received_type = -2;
    double operations = 0;
    std::vector<std::int64_t> sent_parts, received_parts;
    const auto parts = [&](std::vector<std::int64_t>& all) {
        for (std::int64_t i = 0; i < m_size; ++i)
            all.push_back(arguments.count());
    };
    for (const char letter : form.arguments) {
        switch (letter) {
        case 'c':
            sent = arguments.count();
            break;
        case 'r':
            received = arguments.count();
            break;
        case 'C':
            parts(sent_parts);
            break;
        case 'R':
            parts(received_parts);
            break;
        case 'b':
            arguments.number();
            break;
        case 'f':
            operations = arguments.operations();
            break;
        case 'o':
            root = arguments.number_or(0);
            break;
        case 'd':
            type = arguments.number_or(m_default_type);
            break;
        default:
            received_type = arguments.number_or(m_default_type);
        }
    }
    if (root >= m_size)
        arguments.fail("there is no process " + std::to_string(root));
    const bool has_root = form.arguments.find('o') != std::string_view::npos;
    const bool is_root = !has_root || root == m_rank;
    const bool scatters = form.call.starts_with("Scatter");
    if (has_root)
        for (const std::string_view name : {"rootRank", "root"})
            put(state, name, root);
    put(state, "cid", 0);
    const std::int64_t of_received = received_type == -2 ? type : received_type;
    if (sent >= 0)
        add_type(state, "size", "count", "tid", sent, type, arguments);
    if (received >= 0 && (scatters || is_root))
        add_type(state, "recvSize", "recvCount", "recvtid", received, of_received, arguments);
    const auto list = [&](std::string_view name, const std::vector<std::int64_t>& counts, std::int64_t code) {
        for (std::int64_t rank = 0; rank < std::ssize(counts); ++rank) {
            const std::int64_t count = counts[static_cast<std::size_t>(rank)];
            if (count == 0)
                continue;
            Element& part = state.children.emplace_back(Element{std::string(name), {}});
            put(part, "rank", rank);
            add_type(part, "size", "count", "tid", count, code, arguments);
        }
    };
    if (is_root) {
        list("Send", sent_parts, type);
        list("Recv", received_parts, of_received);
    }
    write(state, operations);
}

State Process::call(std::string_view name)
{
    State state;
    state.name = name;
    return state;
}

void Process::compute(double operations)
{
    m_now += operations * m_seconds_per_operation;
}

void Process::write(State& state, double operations)
{
    constexpr double latest = 9e9;
    const double begin = m_now;
    compute(operations);
    if (m_now > latest)
        throw ImportError("rank " + std::to_string(m_rank) +
                          " would compute for more than 9e9 seconds: --speed is too small");
    state.time = std::llround(begin * 1e9);
    state.end = std::llround(m_now * 1e9);
    m_thread.write(state);
    m_import.account.exact();
}

std::int64_t Process::type_id(std::int64_t code)
{
    const auto [place, is_new] = m_type_ids.try_emplace(code, std::ssize(m_type_ids));
    if (is_new) {
        const NamedType& type = types[static_cast<std::size_t>(code)];
        m_process.write_named_type(place->second, type.name, type.size);
    }
    return place->second;
}

void Process::add_type(Element& element, std::string_view size_name, std::string_view count_name,
                       std::string_view type_name, std::int64_t count, std::int64_t code,
                       const Arguments& arguments)
{
    if (code == null_code) {
        put(element, size_name, 0);
        put(element, count_name, count);
        put(element, type_name, -1);
        return;
    }
    if (code < 0 || code >= std::ssize(types))
        arguments.fail("there is no datatype " + std::to_string(code));
    std::int64_t size = 0;
    if (__builtin_mul_overflow(count, types[static_cast<std::size_t>(code)].size, &size))
        arguments.fail("a size is too large");
    put(element, size_name, size);
    put(element, count_name, count);
    put(element, type_name, type_id(code));
}

} // namespace hdtrace::importer::tit
