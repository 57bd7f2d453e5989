#include "hdtrace/analysis/request_columns.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

/// In the order of Outcome.
const std::vector<std::string> outcomes = {"completed", "cancelled", "failed", "freed", "perhaps-cancelled"};

// A wildcard is known when a message has come.
std::optional<std::int64_t> number_of(const Operation& operation, const Completion* completion,
                                      const AttributeName& sent, const AttributeName& received)
{
    if (const auto to = operation.call->integer(sent))
        return to;
    const auto came = completion && completion->what ? completion->what->integer(received) : std::nullopt;
    return came ? came : operation.call->integer(received);
}

/// Between all members: its size is that of one part, and nobody is told what came.
bool exchanges_parts(const Operation& operation)
{
    return exchanges_data(operation.facts->collective);
}

template <class Object> std::int32_t code_of(const std::vector<Object>& list, const Object* object)
{
    return object ? position_in(list, *object) : -1;
}

} // namespace

RequestRows::RequestRows(std::shared_ptr<const OpenedProject> project)
    : m_project(std::move(project)), m_states(m_project->existing_traces())
{
}

bool RequestRows::read(std::size_t states)
{
    if (m_walk.add_some(m_states, states) == states)
        return true;
    add_pending();
    return false;
}

RequestColumns RequestRows::take()
{
    m_columns.name.categories = m_names.texts();
    m_columns.completed_by.categories = m_completing.texts();
    m_columns.outcome.categories = outcomes;
    m_columns.communicator.categories = m_project->communicator_labels;
    m_columns.file.categories = m_project->file_labels;
    m_sites.add_texts(m_columns.site);
    return std::exchange(m_columns, {});
}

// What prepares operations tells what they move, until it is released.
void RequestRows::leave(const Call& call)
{
    const CallProgress progress = call.facts.progress;
    if (progress == CallProgress::prepares || progress == CallProgress::releases)
        m_volumes.of(call);
}

// Of a message, or an access to a file, the size is that; of others what the process gives and gets in all.
void RequestRows::started(const Call& call, const Operation& operation)
{
    if (operation.rid < 0)
        return;
    const auto size = exchanges_parts(operation) ? std::nullopt : operation.call->integer("size");
    const auto volume = size ? std::nullopt : m_volumes.of_operation(call, operation);
    m_posted[operation.rank][operation.rid] = size     ? *size
                                              : volume ? saturated_sum(volume->moved(), volume->posted)
                                                       : 0;
}

void RequestRows::completed(const Call& call, const Completion& completion)
{
    if (!completion.operation || completion.operation->rid < 0)
        return;
    add_start(*completion.operation);
    add_completion(*completion.operation, &call, &completion);
    m_posted[completion.operation->rank].erase(completion.operation->rid);
}

void RequestRows::add_pending()
{
    for (const OperationPointer& operation : m_walk.requests().pending()) {
        add_start(*operation);
        add_completion(*operation, nullptr, nullptr);
    }
}

void RequestRows::add_start(const Operation& operation)
{
    const ObjectTable& objects = m_project->objects;
    const Project& project = m_project->project;
    m_columns.rank.values.push_back(static_cast<std::int32_t>(operation.rank));
    m_columns.thread.values.push_back(static_cast<std::int32_t>(operation.thread));
    m_columns.name.codes.push_back(m_names.code_of(operation.facts->name));
    m_columns.start.values.push_back(operation.time);
    m_columns.started.values.push_back(operation.end);
    m_columns.posted_bytes.values.push_back(m_posted[operation.rank][operation.rid]);
    m_columns.communicator.codes.push_back(
        code_of(project.communicators, objects.communicator(operation.rank, *operation.call)));
    m_columns.file.codes.push_back(code_of(project.files, objects.file(operation.rank, *operation.call)));
    m_columns.request.values.push_back(operation.rid);
    m_columns.line.values.push_back(operation.line);
    m_sites.add_row(m_columns.site, *m_project, objects.call_site(operation.rank, operation.site));
}

void RequestRows::add_completion(const Operation& operation, const Call* call, const Completion* completion)
{
    m_columns.peer.push(number_of(operation, completion, "toRank", "fromRank"));
    m_columns.tag.push(number_of(operation, completion, "toTag", "fromTag"));
    m_columns.wait_start.push(call ? std::optional(call->state.time) : std::nullopt);
    m_columns.completed.push(call ? std::optional(call->state.end) : std::nullopt);
    m_columns.completed_by.codes.push_back(call ? m_completing.code_of(call->state.name) : -1);
    m_columns.outcome.codes.push_back(completion ? static_cast<std::int32_t>(completion->outcome) : -1);
    m_columns.completion_line.push(call ? std::optional(call->state.line) : std::nullopt);
    m_columns.bytes.push(completion ? moved(operation, *completion) : std::nullopt);
}

// A receive is told how much came, an access how much was transferred if it is less, and there is nobody that
// MPI_PROC_NULL is.
std::optional<std::int64_t> RequestRows::moved(const Operation& operation, const Completion& completion)
{
    if (completion.outcome != Outcome::completed)
        return {};
    if (operation.call->integer("toRank") == proc_null && operation.facts->receives == ReceiveKind::none)
        return 0;
    const AttributeName& size = transfers(operation.facts->file) ? "actual" : "size";
    const auto told =
        completion.what && !exchanges_parts(operation) ? completion.what->integer(size) : std::nullopt;
    return told ? told : m_posted[operation.rank][operation.rid];
}

} // namespace hdtrace
