// A database of SQLite.

#include <string_view>

#include "hdtrace/tools/output_file.h"
#include "merger/export/format.h"
#include "merger/export/sqlite/database.h"
#include "merger/export/tables/fill.h"

namespace hdtrace::exporter {
namespace {

constexpr const char* indexes[] = {
    "CREATE INDEX calls_by_thread ON calls (rank, thread, start_ns)",
    "CREATE INDEX calls_by_name ON calls (name)",
    "CREATE INDEX calls_by_time ON calls (start_ns)",
    "CREATE INDEX calls_by_parent ON calls (parent) WHERE parent IS NOT NULL",
    "CREATE INDEX messages_by_ranks ON messages (source, destination)",
    "CREATE INDEX messages_by_receive ON messages (received_by)",
    "CREATE INDEX requests_by_rank ON requests (rank, request)",
    "CREATE INDEX collective_calls_by_operation ON collective_calls (collective)",
    "CREATE INDEX counters_by_name ON counters (name, rank, thread, time_ns)",
};

/// Calls as hdtrace stats counts them, which leaves out those that did not end.
constexpr const char* ended_calls =
    "CREATE VIEW ended_calls AS SELECT *, (end_ns - start_ns) / 1e9 AS seconds "
    "FROM calls WHERE NOT unfinished";

constexpr std::string_view sums =
    "count(*) AS calls, sum(end_ns - start_ns) / 1e9 AS seconds, min(end_ns - start_ns) / 1e9 AS shortest, "
    "max(end_ns - start_ns) / 1e9 AS longest, sum(bytes) AS bytes, sum(sent_bytes) AS sent_bytes, "
    "sum(received_bytes) AS received_bytes";

/// The views that add up calls: their name, by which columns, and what is joined for these.
struct SumView {
    std::string_view name;
    std::string_view columns;
    std::string_view joined = {};
};

constexpr SumView sum_views[] = {
    {"time_per_call", "name"},
    {"time_per_class", "class"},
    {"time_per_rank", "rank"},
    {"time_per_call_and_rank", "name, rank"},
    {"time_per_region", "region"},
    {"time_per_site", "site, name, function, source_file, source_line", "LEFT JOIN sites USING (site)"},
    {"time_per_file", "files.name, ended_calls.name AS call", "JOIN files USING (file)"},
};

constexpr const char* other_views[] = {
    "CREATE VIEW matrix AS SELECT source, destination, count(*) AS messages, sum(sent_bytes) AS bytes "
    "FROM messages WHERE send_start_ns IS NOT NULL GROUP BY source, destination",
    // A receive that blocks waits for a send that comes later, and the members of an operation for the last.
    // Startall blocks no more than what has a request, but has several.
    "CREATE VIEW waiting AS "
    "SELECT 'late sender' AS kind, c.call, c.rank, c.name, "
    "(min(m.send_start_ns, c.end_ns) - c.start_ns) / 1e9 AS seconds "
    "FROM messages m JOIN calls c ON c.call = m.received_by "
    "WHERE c.request IS NULL AND c.name <> 'Startall' AND m.send_start_ns > c.start_ns "
    "UNION ALL "
    "SELECT 'late member', c.call, c.rank, c.name, (min(l.last_ns, c.end_ns) - c.start_ns) / 1e9 "
    "FROM (SELECT collective, max(start_ns) AS last_ns FROM collective_calls JOIN calls USING (call) "
    "GROUP BY collective) l JOIN collective_calls USING (collective) JOIN calls c USING (call) "
    "WHERE c.request IS NULL AND l.last_ns > c.start_ns",
    "CREATE VIEW waiting_per_rank AS SELECT rank, kind, count(*) AS calls, sum(seconds) AS seconds "
    "FROM waiting GROUP BY rank, kind",
    "CREATE VIEW pending_requests AS SELECT * FROM requests WHERE outcome = 'pending'",
};

std::string definition(const SumView& view)
{
    const std::string by(view.columns);
    const std::string labels = by.substr(0, by.find(" AS "));
    return "CREATE VIEW " + std::string(view.name) + " AS SELECT " + by + ", " + std::string(sums) +
           " FROM ended_calls " + std::string(view.joined) + " GROUP BY " + labels +
           " ORDER BY sum(end_ns - start_ns) DESC";
}

void add_views(sqlite::Database& database)
{
    database.execute(ended_calls);
    for (const SumView& view : sum_views)
        database.execute(definition(view));
    for (const char* view : other_views)
        database.execute(view);
}

void convert_to_sqlite(const Project& project, const Options& options, Account& account)
{
    tools::OutputFile file(options.output);
    sqlite::Database database(file.temporary_path());
    tables::fill(project, database, account);
    for (const char* index : indexes) // faster than to keep them while rows come
        database.execute(index);
    add_views(database);
    database.close();
    file.commit(options.overwrite);
}

} // namespace

Format sqlite_format()
{
    return {"sqlite",
            "a database of SQLite with tables of calls, messages, requests and others, and views",
            convert_to_sqlite,
            {}};
}

} // namespace hdtrace::exporter
