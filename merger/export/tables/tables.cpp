#include "merger/export/tables/tables.h"

#include <memory>

#include <glib.h>

#include "merger/export/plain_text.h"

namespace hdtrace::exporter::tables {
namespace {

constexpr Type integer = Type::integer, real = Type::real, text = Type::text;

constexpr std::string_view of_rank = "rank in the project";
constexpr std::string_view nanoseconds = "in nanoseconds since the epoch";

} // namespace

std::string_view type_name(Type type)
{
    return type == integer ? "INTEGER" : type == real ? "REAL" : "TEXT";
}

const std::vector<Table>& tables()
{
    static const std::vector<Table> all = {
        {"columns",
         2,
         {{"table_name", text, "", "a table"},
          {"column_name", text, "", "a column of it"},
          {"type", text, "", "INTEGER, REAL or TEXT"},
          {"refers_to", text, "", "the table whose key it is"},
          {"description", text, "", "what it means"}}},
        {"run", 1, {{"name", text, "", "a fact about the run"}, {"value", text, "", "and its value"}}},
        {"processes",
         1,
         {{"rank", integer, "", of_rank},
          {"host", text, "", "the host it ran on; of traces without ranks their place in the topology"},
          {"has_trace", integer, "", "1, or 0 if the project has no trace of it"}}},
        {"threads",
         2,
         {{"rank", integer, "processes", of_rank},
          {"thread", integer, "", "number in the process"},
          {"name", text, "", "that the system has for it"}}},
        {"communicators",
         1,
         {{"communicator", integer, "", "number"},
          {"name", text, "", "name"},
          {"uid", text, "", "the same in all processes"},
          {"size", integer, "", "how many members it has"}}},
        {"members",
         0,
         {{"communicator", integer, "communicators", "whose member it is"},
          {"rank", integer, "", of_rank},
          {"local_rank", integer, "", "rank in the communicator"},
          {"side", integer, "", "0 or 1 in an inter-communicator"},
          {"cid", integer, "", "what the process's trace calls it"}}},
        {"files",
         1,
         {{"file", integer, "", "number"},
          {"name", text, "", "name"},
          {"initial_size", integer, "", "bytes before the run"}}},
        {"windows",
         1,
         {{"window", integer, "", "number"},
          {"name", text, "", "name"},
          {"uid", text, "", "the same in all"}}},
        {"datatypes",
         2,
         {{"rank", integer, "", of_rank},
          {"tid", integer, "", "what the process's trace calls it"},
          {"combiner", text, "", "how it is made"},
          {"name", text, "", "name"},
          {"size", integer, "", "bytes of data"},
          {"extent", integer, "", "bytes from one to the next"}}},
        {"sites",
         1,
         {{"site", integer, "", "number"},
          {"function", text, "", "that calls"},
          {"source_file", text, "", "where it is"},
          {"source_line", integer, "", "of the call"},
          {"stack", text, "", "with all that led there"}}},
        {"calls",
         1,
         {{"call", integer, "", "number, in the order in which they began"},
          {"rank", integer, "processes", of_rank},
          {"thread", integer, "", "number in the process"},
          {"parent", integer, "calls", "the call or state that it was made in"},
          {"depth", integer, "", "how many calls and regions are around it"},
          {"is_region", integer, "", "1: a region of the program's own"},
          {"name", text, "", "function without MPI_, or state or region of the program's own"},
          {"class", text, "", "as hdtrace stats --by class has it"},
          {"start_ns", integer, "", nanoseconds},
          {"end_ns", integer, "", nanoseconds},
          {"bytes", integer, "", "that hdtrace stats counts"},
          {"sent_bytes", integer, "", "of these what it takes from the process"},
          {"received_bytes", integer, "", "and what it brings to it"},
          {"to_rank", integer, "", "whom it sends to; -2 is MPI_PROC_NULL"},
          {"to_tag", integer, "", "with which tag"},
          {"from_rank", integer, "", "whom it receives from; -1 is MPI_ANY_SOURCE"},
          {"from_tag", integer, "", "with which tag; -1 is MPI_ANY_TAG"},
          {"root", integer, "", "of a collective operation"},
          {"communicator", integer, "communicators", "that it names"},
          {"file", integer, "files", "that it names"},
          {"window", integer, "windows", "that it names"},
          {"file_offset", integer, "", "that it names, in elements of the view"},
          {"request", integer, "", "number in the process"},
          {"error", text, "", "why it failed"},
          {"unfinished", integer, "", "1: the process ended in it"},
          {"site", integer, "sites", "where the program makes it"},
          {"region", text, "", "of the program's own, in which it was made, with all around it"},
          {"line", integer, "", "in the trace"},
          {"arguments", text, "",
           "all that the trace says of it, as name=value; child elements in parentheses"}}},
        {"requests",
         0,
         {{"rank", integer, "processes", of_rank},
          {"request", integer, "", "number in the process"},
          {"operation", text, "", "the call that says what is done"},
          {"started_by", integer, "calls", "the call that started it"},
          {"completed_by", integer, "calls", "the call that told that it was complete"},
          {"outcome", text, "", "completed, cancelled, failed, freed, perhaps cancelled or pending"},
          {"start_ns", integer, "", nanoseconds},
          {"end_ns", integer, "", nanoseconds}}},
        {"messages",
         1,
         {{"message", integer, "", "number"},
          {"communicator", integer, "communicators", "on which it was sent"},
          {"source", integer, "", "rank in the project; -1: a receive from any that got nothing"},
          {"destination", integer, "", of_rank},
          {"tag", integer, "", "tag"},
          {"sent_by", integer, "calls", "the call that started to send; none if no send is known"},
          {"received_by", integer, "calls", "the call that started to receive; none if nobody did"},
          {"sent_bytes", integer, "", "bytes that were sent"},
          {"received_bytes", integer, "", "bytes that arrived"},
          {"send_start_ns", integer, "", nanoseconds},
          {"send_end_ns", integer, "", "when the call returned that started it"},
          {"receive_start_ns", integer, "", nanoseconds},
          {"receive_end_ns", integer, "", "when the receiver had it"}}},
        {"collectives",
         1,
         {{"collective", integer, "", "number"},
          {"communicator", integer, "communicators", "whose members take part"},
          {"number", integer, "", "of the operation on this communicator, from 0"},
          {"name", text, "", "what the first member called"}}},
        {"collective_calls",
         0,
         {{"collective", integer, "collectives", "the operation"},
          {"call", integer, "calls", "of a member"},
          {"rank", integer, "processes", of_rank}}},
        {"marks",
         0,
         {{"rank", integer, "processes", of_rank},
          {"thread", integer, "", "number in the process"},
          {"time_ns", integer, "", nanoseconds},
          {"name", text, "", "that the program gave it"},
          {"message", text, "", "what it said"}}},
        {"counters",
         0,
         {{"rank", integer, "processes", of_rank},
          {"thread", integer, "", "number in the process"},
          {"time_ns", integer, "", nanoseconds},
          {"name", text, "", "of the counter"},
          {"value", real, "", "none if it is no finite number"}}},
    };
    return all;
}

std::string_view valid_text(std::string_view text, std::string& buffer)
{
    const auto size = static_cast<gssize>(text.size());
    if (plain_size(text) == text.size() || g_utf8_validate(text.data(), size, nullptr))
        return text;
    const std::unique_ptr<gchar, decltype(&g_free)> valid(g_utf8_make_valid(text.data(), size), g_free);
    return buffer = valid.get();
}

} // namespace hdtrace::exporter::tables
