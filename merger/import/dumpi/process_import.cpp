#include "merger/import/dumpi/process_import.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "hdtrace/matching/saturated.h"

namespace hdtrace::importer::dumpi {

using namespace hdtrace::dumpi;

namespace {

constexpr std::int64_t any = -1, no_process = -2, root = -3; // as traces have it

struct TypeRow {
    std::string_view function;
    std::string_view combiner;
    std::string_view integers;
    std::string_view addresses;
    std::string_view types;
};

constexpr TypeRow type_rows[] = {
#define HDT_TYPE(function, combiner, integers, addresses, types)                                             \
    {function, combiner, integers, addresses, types},
#include "merger/import/dumpi/types.inc"
};

/// What stands before the blank, which is taken from the text with it.
std::string_view take_word(std::string_view& text)
{
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    return word;
}

/// What a call is given and answers may be one attribute (`dims`): it has the answer.
void set(State& state, std::string_view name, std::string_view value)
{
    if (const auto place = state.attributes.find_exactly(name))
        state.attributes.set_value(*place, value);
    else
        state.attributes.push_back(name, value);
}

/// Of numbers from files, which may be any.
std::int64_t saturated(std::int64_t count, std::int64_t size)
{
    return saturated_product(std::max<std::int64_t>(count, 0), std::max<std::int64_t>(size, 0));
}

std::string_view without_prefix(std::string_view name)
{
    constexpr std::string_view of_files = "MPIO_"; // of old libraries, with requests of their own
    return name.starts_with(of_files) ? name.substr(of_files.size()) : name;
}

bool is_rank_of_world(const CallFacts& facts, std::string_view attribute)
{
    const auto ranks = rank_attributes_of(facts.name);
    return std::ranges::find(ranks, attribute) != ranks.end();
}

/// `1;2;3;`
template <class Numbers> std::string list_text(const Numbers& numbers)
{
    std::string text;
    for (const std::int64_t number : numbers)
        text += std::to_string(number) + ";";
    return text;
}

std::string map_text(const Ranks& ranks)
{
    std::string text;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        text += std::to_string(ranks[i]) + "->" + std::to_string(i) + ";";
    return text;
}

/// DUMPI on machines with 64 bits has the first halves of displacements one by one: the lower one, then the
/// higher one.
bool holds_halves(const std::vector<std::int64_t>& displacements)
{
    if (displacements.size() < 2)
        return false;
    for (std::size_t i = 1; i < displacements.size(); i += 2)
        if (displacements[i] != (displacements[i - 1] < 0 ? -1 : 0))
            return false;
    return true;
}

/// As a shell reads them.
std::string command_text(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) {
        text += text.empty() ? "'" : " '";
        for (const char character : word)
            text += character == '\'' ? std::string("'\\''") : std::string(1, character);
        text += "'";
    }
    return text;
}

} // namespace

ProcessImport::ProcessImport(BinReader& reader, RunCommunicators& communicators, ProcessTrace& trace,
                             std::int64_t rank, std::int64_t shift, exporter::Account& account)
    : m_reader(reader), m_communicators(communicators), m_trace(trace), m_rank(rank), m_shift(shift),
      m_account(account)
{
    if (!reader.user().empty() && reader.user() != "<none>")
        trace.write(InfoText("User").text("name", reader.user()));
    for (const auto& [key, value] : reader.notes())
        trace.write(InfoText("Note").text("key", key).text("value", value));
    trace.write_world();
    m_communicator_ids[communicators.find(rank, 0)] = 0;
    thread(0);
}

ThreadTrace& ProcessImport::thread(std::int64_t number)
{
    auto& thread = m_threads[number];
    if (thread == nullptr) {
        if (number != 0)
            m_trace.write(InfoText("Thread").number("number", number));
        thread = std::make_unique<ThreadTrace>(m_trace, number);
    }
    return *thread;
}

void ProcessImport::close()
{
    for (auto& [number, thread] : m_threads)
        thread->close();
    const auto& ignored = m_reader.ignored();
    for (const Function& function : functions())
        if (function.label < ignored.size() && ignored[function.label] > 0)
            m_trace.write(InfoText("Calls")
                              .text("name", without_prefix(function.name))
                              .number("recorded", 0)
                              .number("ignored", ignored[function.label]));
    m_trace.close();
}

// --- records ---

void ProcessImport::write(const Record& record)
{
    if (!record.has_time)
        m_reader.fail("the call has no wall-clock time");
    if (record.end < record.time)
        m_reader.fail("the call ends before it begins");
    if (record.function == nullptr)
        return moment(record);
    State state = state_of(record);
    begin(record, state);
    describe_results(record);
    for (const Value& value : record.values)
        put(state, value);
    put_shares(state, record);
    complete(state, record);
    put_status(state, record);
    put_sizes(state);
    finish_access(state, record);
    write_to(record.thread, state);
    if (m_is_unclear)
        m_account.approximated("calls on communicators whose members the files do not tell: without them");
    else
        m_account.exact();
}

State ProcessImport::state_of(const Record& record) const
{
    State state;
    if (record.function != nullptr)
        state.name = without_prefix(record.function->name);
    state.time = record.time + m_shift;
    state.end = record.end + m_shift;
    return state;
}

/// What the program enters and leaves.
void ProcessImport::moment(const Record& record)
{
    constexpr std::string_view annotation = "ANNOTATION: ";
    const auto found = m_reader.names().find(record.address);
    std::string_view name = found == m_reader.names().end() ? "" : std::string_view(found->second);
    if (name.starts_with(annotation))
        name.remove_prefix(annotation.size());
    State event = state_of(record);
    event.name = "Event";
    event.is_event = true;
    event.attributes.push_back(
        "name", name.empty() || name == "<none>" ? "function " + std::to_string(record.address) : name);
    event.attributes.push_back("kind", record.label == label_enter ? "begin" : "end");
    event.time = event.end;
    write_to(record.thread, event);
}

void ProcessImport::write_to(std::int64_t number, const State& state)
{
    try {
        thread(number).write(state);
    } catch (const std::invalid_argument& error) {
        m_reader.fail(error.what());
    }
}

void ProcessImport::begin(const Record& record, const State& state)
{
    m_names.before(record);
    m_facts = &facts_of(state.name);
    m_communicator = nullptr;
    m_is_unclear = false;
    m_shares.clear();
    m_posted_source = m_posted_tag = nullptr;
    m_transferred.reset();
    const Value* peer = record.find("remotecomm");
    m_peer = peer == nullptr ? nullptr : communicator_of(peer->number);
    for (const std::string_view name : {"comm", "oldcomm", "localcomm", "comm1"})
        if (const Value* value = record.find(name);
            value != nullptr && value->argument->code == Code::communicator)
            m_communicator = communicator_of(value->number);
    if (const auto window = m_windows.find(record.number("win"));
        record.find("win") && window != m_windows.end())
        m_communicator = window->second.second;
}

// --- objects ---

RunCommunicator* ProcessImport::communicator_of(std::int64_t number)
{
    return m_communicators.find(m_rank, m_names.communicator(number));
}

/// It is described when it is first named.
std::int64_t ProcessImport::communicator_id(RunCommunicator* communicator)
{
    const auto [found, is_new] =
        m_communicator_ids.try_emplace(communicator, static_cast<std::int64_t>(m_communicator_ids.size()));
    if (is_new) {
        InfoText line("Comm");
        line.text("map", map_text(communicator->group_of(m_rank))).number("id", found->second);
        line.text("name",
                  communicator->uid[0] == 'S' ? "SELF" : "communicator " + communicator->uid.substr(1));
        line.text("uid", communicator->uid);
        if (!communicator->others.empty())
            line.text("remote", map_text(communicator->peers_of(m_rank)));
        m_trace.write(line);
    }
    return found->second;
}

std::optional<Ranks> ProcessImport::group_of(std::int64_t number)
{
    if (number == empty_group)
        return Ranks();
    const std::size_t group = m_names.group(number);
    if (group == ProcessNames::unknown && number == world_group)
        return m_communicators.find(m_rank, 0)->members;
    return m_communicators.group(m_rank, group);
}

/// Predefined ones and those of which nothing tells how they were made are described when they are first
/// named.
std::int64_t ProcessImport::type_id(std::int64_t number)
{
    if (number == null_datatype)
        return -1;
    const auto [found, is_new] = m_types.try_emplace(number, m_next_type);
    if (is_new) {
        ++m_next_type;
        const std::string_view predefined =
            name_of(Code::datatype, static_cast<std::uint8_t>(std::min<std::int64_t>(number, 255)));
        const std::string name = number < first_datatype && !predefined.empty()
                                     ? std::string(predefined)
                                     : "datatype " + std::to_string(number);
        if (const auto size = size_of_number(number)) {
            m_type_sizes[found->second] = *size;
            m_trace.write_named_type(found->second, name, *size);
        } else {
            m_trace.write(InfoText("Type")
                              .text("id", std::to_string(found->second))
                              .text("combiner", "MPI_COMBINER_NAMED")
                              .text("name", name));
        }
    }
    return found->second;
}

std::optional<std::int64_t> ProcessImport::size_of_number(std::int64_t number) const
{
    const auto& sizes = m_reader.datatype_sizes();
    const auto place = static_cast<std::size_t>(number);
    if (number >= 0 && place < sizes.size() && sizes[place] > 0)
        return sizes[place];
    const auto predefined = std::ranges::find_if(
        predefined_datatypes(), [&](const Predefined& type) { return type.number == number; });
    return predefined == predefined_datatypes().end() ? std::nullopt
                                                      : std::optional<std::int64_t>(predefined->size);
}

std::optional<std::int64_t> ProcessImport::size_of_type(std::int64_t id) const
{
    const auto found = m_type_sizes.find(id);
    return found == m_type_sizes.end() ? std::nullopt : std::optional(found->second);
}

void ProcessImport::describe_results(const Record& record)
{
    describe_type(record);
    m_names.after(record);
    describe_window(record);
    const std::string_view name = record.function->name;
    if (name == "File_open") {
        const std::string& path = record.find("filename")->text;
        const auto [id, is_new] = m_file_ids.try_emplace(path, static_cast<std::int64_t>(m_file_ids.size()));
        if (is_new)
            m_trace.write(InfoText("File").text("name", path).number("Size", 0).number("id", id->second));
        m_files[record.number("file")] = id->second;
        m_viewed.erase(record.number("file"));
    }
    if (name == "Init" || name == "Init_thread")
        if (const Value* arguments = record.find("argv"); arguments != nullptr && !arguments->texts.empty())
            m_trace.write(InfoText("Command").text("line", command_text(arguments->texts)));
}

void ProcessImport::describe_type(const Record& record)
{
    const auto row = std::ranges::find(type_rows, record.function->name, &TypeRow::function);
    if (row == std::end(type_rows))
        return;
    const auto values = [&](std::string_view names, bool are_types) {
        std::string text;
        while (!names.empty()) {
            const Value* value = record.find(take_word(names));
            if (value == nullptr)
                continue;
            const auto one = [&](std::int64_t number) {
                const std::string_view constant =
                    value->argument->code == Code::order || value->argument->code == Code::distribution
                        ? name_of(value->argument->code, static_cast<std::uint8_t>(number))
                        : "";
                text += (are_types          ? std::to_string(type_id(number))
                         : constant.empty() ? std::to_string(number)
                                            : std::string(constant)) +
                        ";";
            };
            if (value->argument->dimensions == 0)
                one(value->number);
            for (const std::int64_t number : value->numbers)
                one(number);
        }
        return text;
    };
    const std::int64_t number = record.number("newtype");
    if (number < first_datatype)
        return;
    const auto count = length_of_arrays(record);
    if (!count) { // only its size is known
        m_types.erase(number);
        return;
    }
    const std::string types = values(row->types, true);
    const std::int64_t id = m_next_type++;
    m_types[number] = id;
    InfoText line("Type");
    line.text("id", std::to_string(id))
        .text("combiner", "MPI_COMBINER_" + std::string(row->combiner))
        .text("name", "")
        .text("integers", values(row->integers, false))
        .text("addresses", values(row->addresses, false))
        .text("types", types);
    if (const auto size = size_of_number(number)) {
        m_type_sizes[id] = *size;
        line.number("size", *size);
    }
    m_trace.write(line);
}

/// Of the arrays of a datatype, which have one length: 0 if it has none. Nothing if they do not tell how the
/// type is made.
std::optional<std::size_t> ProcessImport::length_of_arrays(const Record& record) const
{
    std::optional<std::size_t> length;
    for (const Value& value : record.values) {
        if (value.argument->dimensions == 0)
            continue;
        if (length && *length != value.numbers.size()) {
            if (*length != 0 && !value.numbers.empty())
                m_reader.fail("arrays of one datatype have " + std::to_string(*length) + " and " +
                              std::to_string(value.numbers.size()) + " elements");
            return std::nullopt;
        }
        if (value.argument->name == "displacements" && holds_halves(value.numbers))
            return std::nullopt;
        length = value.numbers.size();
    }
    for (const std::string_view name : {"count", "ndims"})
        if (const Value* count = record.find(name);
            length && count != nullptr && count->number != static_cast<std::int64_t>(*length))
            return std::nullopt;
    return length.value_or(0);
}

void ProcessImport::describe_window(const Record& record)
{
    if (record.function->name != "Win_create")
        return;
    if (record.number("size") < 0 || record.number("dispunit") < 0)
        m_reader.fail("a window has a negative size");
    const std::int64_t id = m_next_window++;
    m_windows[record.number("win")] = {id, m_communicator};
    if (m_communicator == nullptr)
        return;
    const std::int64_t cid = communicator_id(m_communicator);
    m_trace.write(
        InfoText("Win")
            .number("id", id)
            .number("cid", cid)
            .text("uid", m_communicator->uid + "/w" + std::to_string(m_window_counts[m_communicator]++))
            .number("size", record.number("size"))
            .number("dispUnit", record.number("dispunit")));
}

// --- arguments ---

void ProcessImport::put(State& state, const Value& value)
{
    const Argument& argument = *value.argument;
    const auto& sources = argument.sources;
    if (sources.empty() || argument.code == Code::status || argument.code == Code::info ||
        argument.code == Code::errhandler)
        return;
    const Source& source = sources.front();
    if (source.name == "postedRank")
        m_posted_source = &value;
    else if (source.name == "postedTag")
        m_posted_tag = &value;
    else if (source.special == Special::count)
        importer::put(state, "count", value.number);
    else if (source.special == Special::index)
        importer::put(state, "index", value.number == undefined ? -1 : value.number);
    else if (source.kind == SourceKind::member_children)
        m_shares[source.child].values[source.name] = &value.numbers;
    else if (argument.code == Code::request)
        put_request(state, value);
    else if (argument.dimensions > 0)
        put_array(state, value, source);
    else if (source.kind == SourceKind::attribute || source.kind == SourceKind::undefined)
        if (const auto text = argument.code == Code::text ? std::optional(value.text)
                                                          : text_of(argument, source, value.number))
            set(state, source.name, *text);
}

void ProcessImport::put_array(State& state, const Value& value, const Source& source)
{
    const Argument& argument = *value.argument;
    if (source.kind == SourceKind::children) {
        for (const std::string& text : value.texts) {
            Element& child = state.children.emplace_back();
            child.name = source.child;
            child.attributes.push_back(source.name, text);
        }
        return;
    }
    if (source.kind != SourceKind::attribute && source.kind != SourceKind::undefined)
        return;
    std::string list;
    for (const std::int64_t number : value.numbers) {
        const auto text = argument.name == "errcodes"
                              ? std::optional<std::string>(number == 1 ? "MPI_SUCCESS" : "MPI_ERR_OTHER")
                              : text_of(argument, source, number);
        list += text.value_or("") + ";";
    }
    for (const auto& row : value.rows) {
        for (std::size_t i = 0; i < row.size(); ++i)
            list += (i > 0 ? "," : "") + std::to_string(row[i]);
        list += ";";
    }
    set(state, source.name, list);
}

/// Nothing if the files do not tell.
std::optional<std::string> ProcessImport::text_of(const Argument& argument, const Source& source,
                                                  std::int64_t number)
{
    switch (argument.code) {
    case Code::integer:
        if (source.kind == SourceKind::undefined && number == undefined)
            return "-1";
        // A displacement of which there is no room, as each one in a window that was made without memory.
        if (source.name == "targetOffset" && number == std::numeric_limits<std::int32_t>::max())
            return std::nullopt;
        return is_rank_of_world(*m_facts, source.name) ? rank_text(source, number) : std::to_string(number);
    case Code::rank:
        return rank_text(source, number);
    case Code::large:
    case Code::tag:
        return std::to_string(number);
    case Code::datatype:
        return number == 0 ? std::nullopt : std::optional(std::to_string(type_id(number)));
    case Code::communicator: {
        if (number < world)
            return number == null_communicator ? std::optional<std::string>("-1") : std::nullopt;
        RunCommunicator* communicator = communicator_of(number);
        m_is_unclear = m_is_unclear || communicator == nullptr;
        return communicator == nullptr ? std::nullopt
                                       : std::optional(std::to_string(communicator_id(communicator)));
    }
    case Code::group: {
        const auto group = group_of(number);
        return group ? std::optional(list_text(*group)) : std::nullopt;
    }
    case Code::file: {
        const auto found = m_files.find(number);
        return found == m_files.end() ? std::nullopt : std::optional(std::to_string(found->second));
    }
    case Code::window: {
        const auto found = m_windows.find(number);
        return found == m_windows.end() ? std::nullopt : std::optional(std::to_string(found->second.first));
    }
    case Code::assertion:
        return assertions(number);
    case Code::operation:
        if (number == null_operation) // what stands there where none is known
            return std::nullopt;
        if (number >= first_operation)
            return "USER";
        break;
    case Code::key:
        if (number >= first_key)
            return std::to_string(number);
        break;
    default:
        break;
    }
    const std::string_view name = name_of(argument.code, static_cast<std::uint8_t>(number));
    return name.empty() ? std::nullopt : std::optional(std::string(name));
}

std::optional<std::string> ProcessImport::assertions(std::int64_t number) const
{
    constexpr std::int64_t all = 31;
    if (number > all)
        return std::nullopt; // of a sum the original writer has 255
    std::string text;
    for (std::int64_t bit = 1; bit <= all; bit *= 2)
        if ((number & bit) != 0)
            text += (text.empty() ? "" : "|") +
                    std::string(name_of(Code::assertion, static_cast<std::uint8_t>(bit)));
    return text.empty() ? "0" : text;
}

/// As a rank of MPI_COMM_WORLD, which traces have.
std::optional<std::string> ProcessImport::rank_text(const Source& source, std::int64_t number)
{
    const bool is_root = source.name == "rootRank";
    if (number < 0) {
        // Open MPI has -4 and -2 for MPI_ROOT and MPI_PROC_NULL, MPICH -3 and -1.
        if (is_root)
            return std::to_string(number <= root ? root : no_process);
        const bool is_from = source.name != "toRank" && number == any_source;
        return std::to_string(is_from && m_facts->access == WindowAccess::none ? any : no_process);
    }
    if (!is_rank_of_world(*m_facts, source.name))
        return std::to_string(number);
    const RunCommunicator* communicator = m_communicator;
    if (source.name == "remoteLeader")
        communicator = m_peer;
    if (communicator == nullptr)
        return std::nullopt;
    const Ranks& ranks = communicator->peers_of(m_rank);
    return number < static_cast<std::int64_t>(ranks.size())
               ? std::optional(std::to_string(ranks[static_cast<std::size_t>(number)]))
               : std::nullopt;
}

/// `Send` and `Recv` elements, for members that get something.
void ProcessImport::put_shares(State& state, const Record& record)
{
    for (const auto& [child, shares] : m_shares) {
        const auto counts = shares.values.find("count");
        if (counts == shares.values.end() || m_communicator == nullptr)
            continue;
        const auto value_at = [&](std::string_view name, std::size_t i) -> std::optional<std::int64_t> {
            const auto values = shares.values.find(name);
            return values == shares.values.end() || i >= values->second->size()
                       ? std::nullopt
                       : std::optional((*values->second)[i]);
        };
        const bool is_own_group = record.function->name == "Reduce_scatter";
        const Ranks& ranks =
            is_own_group ? m_communicator->group_of(m_rank) : m_communicator->peers_of(m_rank);
        const auto type_of_all = state.integer(
            child == "Recv" && state.has("recvtid") ? AttributeName("recvtid") : AttributeName("tid"));
        for (std::size_t i = 0; i < counts->second->size() && i < ranks.size(); ++i) {
            const std::int64_t count = (*counts->second)[i];
            if (count == 0)
                continue;
            const auto type = value_at("tid", i);
            const std::int64_t id = type ? type_id(*type) : type_of_all.value_or(-1);
            Element& share = state.children.emplace_back();
            share.name = child;
            importer::put(share, "rank", ranks[i]);
            if (const auto size = size_of_type(id))
                importer::put(share, "size", saturated(count, *size));
            importer::put(share, "count", count);
            importer::put(share, "tid", id);
            if (const auto place = value_at("displ", i))
                importer::put(share, "displ", *place);
        }
    }
}

/// Sizes in bytes, as far as the files tell those of datatypes.
void ProcessImport::put_sizes(State& state)
{
    const auto put = [&](std::string_view size, const AttributeName& count, const AttributeName& type) {
        const auto elements = state.integer(count);
        const auto bytes = size_of_type(state.integer(type).value_or(-1));
        if (elements && *elements >= 0 && bytes && !state.has(size))
            importer::put(state, size, saturated(*elements, *bytes));
    };
    if (m_facts->call_class == CallClass::query || m_facts->progress == CallProgress::query)
        return;
    // Where the arguments of the sender are ignored traces have those of the receiver.
    if (state.has("recvCount") && !state.has("count") && m_facts->scatters && !m_facts->lists_sends) {
        importer::put(state, "count", state.integer("recvCount").value_or(0));
        importer::put(state, "tid", state.integer("recvtid").value_or(-1));
    }
    put("size", "count", "tid");
    put("recvSize", "recvCount", "recvtid");
    if (m_facts->sends != SendMode::none && !m_facts->sent_size.empty())
        put(m_facts->sent_size, "count", "tid");
}

// --- statuses ---

std::int64_t ProcessImport::source_of(std::int64_t number, const RunCommunicator* communicator) const
{
    if (number < 0 || communicator == nullptr)
        return number == any_source ? any : no_process;
    const Ranks& ranks = communicator->peers_of(m_rank);
    return number < static_cast<std::int64_t>(ranks.size()) ? ranks[static_cast<std::size_t>(number)]
                                                            : no_process;
}

void ProcessImport::add_status(Element& element, const Status& status,
                               const RunCommunicator* communicator) const
{
    importer::put(element, "fromRank", source_of(status.source, communicator));
    importer::put(element, "fromTag", status.tag);
}

/// What a blocking call received, found, or read and wrote.
void ProcessImport::put_status(State& state, const Record& record)
{
    if (m_facts->progress == CallProgress::waits || m_facts->progress == CallProgress::tests)
        return;
    const Value* value = record.find("status");
    const Status* status = value == nullptr || value->statuses.empty() ? nullptr : &value->statuses.front();
    const bool receives = m_facts->receives != ReceiveKind::none;
    const auto posted_rank = m_posted_source == nullptr ? std::nullopt
                                                        : rank_text(m_posted_source->argument->sources.back(),
                                                                    m_posted_source->number);
    if (status == nullptr) { // what was asked for
        if (posted_rank)
            state.attributes.push_back("fromRank", *posted_rank);
        if (m_posted_tag)
            importer::put(state, "fromTag", m_posted_tag->number);
        return;
    }
    if (receives || m_facts->probes != ProbeKind::none) {
        add_status(state, *status, m_communicator);
        importer::put(state,
                      m_facts->received_size.empty() ? std::string_view("size") : m_facts->received_size,
                      status->bytes);
        if (posted_rank && *posted_rank != state.text("fromRank"))
            state.attributes.push_back("postedRank", *posted_rank);
        if (m_posted_tag && m_posted_tag->number != status->tag)
            importer::put(state, "postedTag", m_posted_tag->number);
    } else if (m_facts->file != FileAccess::none && !record.function->name.ends_with("_end")) {
        m_transferred = status->bytes;
    }
}

// --- requests ---

void ProcessImport::put_request(State& state, const Value& value)
{
    const Argument& argument = *value.argument;
    const Source& source = argument.sources.front();
    if (source.name == "rid" && argument.is_result) {
        Request request;
        request.rid = m_next_rid++;
        request.is_persistent = m_facts->progress == CallProgress::prepares;
        request.receives = m_facts->receives != ReceiveKind::none;
        request.is_access = m_facts->file != FileAccess::none;
        const auto bytes = size_of_type(state.integer("tid").value_or(-1));
        request.size = saturated(state.integer("count").value_or(0), bytes.value_or(0));
        request.communicator = m_communicator;
        (request.is_access ? m_accesses : m_requests)[value.number] = request;
        importer::put(state, "rid", request.rid);
    } else if (source.name == "rid") {
        const Request* request = find_request(value.number);
        if (request == nullptr)
            return;
        importer::put(state, "rid", request->active >= 0 ? request->active : request->rid);
        if (m_facts->progress == CallProgress::releases)
            forget_request(value.number);
    } else if (source.name == "initRid" && argument.dimensions == 0) {
        start(state, value.number);
    } else if (source.name == "initRid") {
        for (const std::int64_t number : value.numbers) {
            Element child;
            child.name = source.child;
            start(child, number);
            state.children.push_back(std::move(child));
        }
    }
}

/// An operation of a persistent request.
void ProcessImport::start(Element& element, std::int64_t number)
{
    Request* request = find_request(number);
    if (request == nullptr)
        return;
    request->active = m_next_rid++;
    importer::put(element, "rid", request->active);
    importer::put(element, "initRid", request->rid);
}

/// Files number the requests of accesses to files as others, or apart.
ProcessImport::Request* ProcessImport::find_request(std::int64_t number)
{
    for (auto* requests : {&m_requests, &m_accesses})
        if (const auto found = requests->find(number); found != requests->end())
            return &found->second;
    return nullptr;
}

void ProcessImport::forget_request(std::int64_t number)
{
    if (m_requests.erase(number) == 0)
        m_accesses.erase(number);
}

void ProcessImport::complete(State& state, const Record& record)
{
    if (m_facts->completes == WhichRequests::none || record.function->name.ends_with("_end"))
        return;
    std::vector<std::int64_t> numbers;
    if (const Value* one = record.find("request"))
        numbers = {one->number};
    else if (const Value* several = record.find("requests"))
        numbers = several->numbers;
    const Value* statuses =
        record.find("statuses") != nullptr ? record.find("statuses") : record.find("status");
    const auto status_at = [&](std::size_t i) {
        return statuses != nullptr && i < statuses->statuses.size() ? &statuses->statuses[i] : nullptr;
    };
    const bool has_ended = record.number("flag", 1) != 0;
    std::vector<bool> ended(numbers.size(), false);
    const auto end_at = [&](std::int64_t place, const Status* status) {
        const auto i = static_cast<std::size_t>(place);
        if (place < 0 || i >= numbers.size() || ended[i])
            return;
        ended[i] = true;
        complete_one(state, numbers[i], status);
    };
    if (const Value* indices = record.find("indices")) {
        for (std::size_t i = 0; i < indices->numbers.size(); ++i)
            end_at(indices->numbers[i], status_at(i));
    } else if (const Value* index = record.find("index")) {
        const bool is_list = statuses != nullptr && statuses->statuses.size() > 1;
        if (has_ended && index->number >= 0)
            end_at(index->number, status_at(is_list ? static_cast<std::size_t>(index->number) : 0));
    } else {
        for (std::size_t i = 0; has_ended && i < numbers.size(); ++i)
            end_at(static_cast<std::int64_t>(i), status_at(i));
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const Request* request = ended[i] ? nullptr : find_request(numbers[i]);
        if (request == nullptr || (request->is_persistent && request->active < 0))
            continue;
        Element& pending = state.children.emplace_back();
        pending.name = "Pending";
        importer::put(pending, "rid", request->is_persistent ? request->active : request->rid);
    }
}

void ProcessImport::complete_one(State& state, std::int64_t number, const Status* status)
{
    Request* request = find_request(number);
    if (request == nullptr || (request->is_persistent && request->active < 0))
        return;
    Element& ended = state.children.emplace_back();
    ended.name = "For";
    importer::put(ended, "rid", request->is_persistent ? request->active : request->rid);
    if (status != nullptr && status->is_cancelled) {
        ended.attributes.push_back("cancelled", "1");
    } else if (status != nullptr && request->receives) {
        add_status(ended, *status, request->communicator);
        importer::put(ended, "size", status->bytes);
    } else if (status != nullptr && request->is_access && status->bytes != request->size) {
        importer::put(ended, "actual", status->bytes);
    }
    if (request->is_persistent)
        request->active = -1;
    else
        forget_request(number);
}

/// A split access to a file has a request in traces.
void ProcessImport::finish_access(State& state, const Record& record)
{
    if (m_facts->file == FileAccess::view)
        m_viewed.insert(record.number("file"));
    // Without a view offsets are in bytes of the file.
    if (const auto offset = state.integer("etOffset"); offset && !m_viewed.contains(record.number("file")))
        importer::put(state, "offset", *offset);
    if (m_facts->file != FileAccess::read && m_facts->file != FileAccess::write)
        return;
    const std::string_view name = record.function->name;
    const std::int64_t file = record.number("file");
    if (name.ends_with("_begin")) {
        Element data;
        data.name = "Data";
        for (const std::string_view attribute : {"offset", "size", "count", "tid"})
            if (const auto value = state.find(attribute))
                data.attributes.push_back(attribute, *value);
        m_splits[file] = {m_next_rid, state.integer("size").value_or(0)};
        importer::put(state, "rid", m_next_rid++);
        state.children.push_back(std::move(data));
    } else if (name.ends_with("_end")) {
        const Value* value = record.find("status");
        const auto split = m_splits.find(file);
        State wait;
        wait.name = "Wait";
        wait.time = state.time;
        wait.end = state.end;
        if (split != m_splits.end()) {
            Element& ended = wait.children.emplace_back();
            ended.name = "For";
            importer::put(ended, "rid", split->second.first);
            if (value != nullptr && !value->statuses.empty() &&
                value->statuses[0].bytes != split->second.second)
                importer::put(ended, "actual", value->statuses[0].bytes);
            m_splits.erase(split);
        }
        state = std::move(wait);
    } else if (m_transferred && *m_transferred != state.integer("size").value_or(*m_transferred)) {
        importer::put(state, "actual", *m_transferred);
    }
}

} // namespace hdtrace::importer::dumpi
