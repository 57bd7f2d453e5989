#include "hdtrace/checking/argument_check.h"

#include <algorithm>

#include "hdtrace/analysis/call_text.h"

namespace hdtrace {
namespace {

struct ErrorClass {
    std::string_view name;
    FindingKind kind;
};

/// What a class of errors says; others are call-failed.
constexpr ErrorClass error_classes[] = {
    {"MPI_ERR_BUFFER", FindingKind::invalid_buffer},
    {"MPI_ERR_COUNT", FindingKind::invalid_count},
    {"MPI_ERR_TYPE", FindingKind::invalid_datatype},
    {"MPI_ERR_TAG", FindingKind::invalid_tag},
    {"MPI_ERR_COMM", FindingKind::invalid_communicator},
    {"MPI_ERR_RANK", FindingKind::invalid_rank},
    {"MPI_ERR_REQUEST", FindingKind::invalid_request},
    {"MPI_ERR_ROOT", FindingKind::invalid_root},
    {"MPI_ERR_GROUP", FindingKind::invalid_group},
    {"MPI_ERR_OP", FindingKind::invalid_operation},
    {"MPI_ERR_ARG", FindingKind::invalid_argument},
    {"MPI_ERR_DIMS", FindingKind::invalid_argument},
    {"MPI_ERR_TOPOLOGY", FindingKind::invalid_communicator},
    {"MPI_ERR_TRUNCATE", FindingKind::message_truncated},
    {"MPI_ERR_WIN", FindingKind::invalid_window},
    {"MPI_ERR_FILE", FindingKind::invalid_file},
    {"MPI_ERR_READ_ONLY", FindingKind::invalid_file},
    {"MPI_ERR_ACCESS", FindingKind::invalid_file},
    {"MPI_ERR_RMA_SYNC", FindingKind::epoch_missing},
    {"MPI_ERR_RMA_CONFLICT", FindingKind::rma_conflict},
    {"MPI_ERR_LOCKTYPE", FindingKind::invalid_argument},
    {"MPI_ERR_ASSERT", FindingKind::invalid_argument},
    {"MPI_ERR_DISP", FindingKind::invalid_argument},
    {"MPI_ERR_SIZE", FindingKind::invalid_argument},
    {"MPI_ERR_KEYVAL", FindingKind::invalid_argument},
    {"MPI_ERR_INFO", FindingKind::invalid_argument},
    {"MPI_ERR_INFO_KEY", FindingKind::invalid_argument},
    {"MPI_ERR_INFO_VALUE", FindingKind::invalid_argument},
    {"MPI_ERR_RMA_RANGE", FindingKind::invalid_argument},
};

FindingKind kind_of(const Call& failed)
{
    const std::string error = failed.state.text("rc");
    const bool is_of_the_system = error == "MPI_ERR_ACCESS" && !failed.state.has("fid"); // of a name
    const auto found = std::ranges::find(error_classes, error, &ErrorClass::name);
    const bool is_other = found == std::end(error_classes) || is_of_the_system || failed.facts.raises;
    return is_other ? FindingKind::call_failed : found->kind;
}

std::string failure_text(const Call& failed)
{
    const std::string error = failed.state.text("rc");
    return failed.facts.raises ? " raised error " + failed.state.text("errorcode") + " (" + error + ")"
                               : " failed with " + error;
}

bool is_about_an_argument(FindingKind kind)
{
    return FindingKind::invalid_communicator <= kind && kind <= FindingKind::invalid_argument;
}

} // namespace

std::string ArgumentCheck::sentence_about(const Call& call, const WrongArgument& wrong) const
{
    return call.state.name + at(place_of(m_findings.objects(), call).site) + " " + wrong.text;
}

void ArgumentCheck::leave(const Call& call)
{
    m_context.leave(call);
    if (call.is_inside_call || call.facts.call_class == CallClass::other)
        return;
    const std::optional<WrongArgument> wrong = find_wrong_argument(call, m_context);
    if (call.has_failed())
        report_failed(call, wrong);
    else if (wrong)
        m_findings.report(wrong->kind, place_of(m_findings.objects(), call), sentence_about(call, *wrong));
    if (!call.state.is_unfinished() || !(wrong || call.has_failed()))
        return;
    // Else it may have failed because of what others did.
    const bool is_refused = wrong || is_about_an_argument(kind_of(call));
    m_ends.push_back({call.trace.rank, call.has_failed(), is_refused});
}

/// Where the program has been told, and went on, that may be what it wants.
void ArgumentCheck::report_failed(const Call& call, std::optional<WrongArgument> wrong)
{
    const CallPlace place = place_of(m_findings.objects(), call);
    const std::string error = call.state.text("rc");
    const bool says_more = error != "MPI_ERR_ARG" && error != "MPI_ERR_OTHER";
    FindingKind kind = kind_of(call);
    if (wrong && says_more && wrong->kind != kind && !call.state.is_unfinished())
        wrong.reset(); // it failed for another reason
    if (wrong)
        kind = wrong->kind;
    const bool ended_all = call.state.is_unfinished();
    m_findings.report_as(ended_all ? Severity::error : Severity::warning, kind, place,
                         (wrong ? sentence_about(call, *wrong) + ", and" : call.state.name + at(place.site)) +
                             failure_text(call) + (ended_all ? ", which ended the program" : ""));
}

} // namespace hdtrace
