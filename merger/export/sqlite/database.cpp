#include "merger/export/sqlite/database.h"

#include <algorithm>
#include <thread>

#include "merger/export/format.h"

namespace hdtrace::exporter::sqlite {

using tables::Column;
using tables::Table;
using tables::Value;

namespace {

constexpr unsigned most_sorting_threads = 4;

std::string column_names(const Table& table, std::size_t count)
{
    std::string names;
    for (std::size_t i = 0; i < count; ++i)
        names += (i > 0 ? ", " : "") + std::string(table.columns[i].name);
    return names;
}

std::string definition(const Table& table)
{
    std::string text = "CREATE TABLE " + std::string(table.name) + " (";
    for (const Column& column : table.columns) {
        text += (&column == table.columns.data() ? "" : ", ") + std::string(column.name) + " " +
                std::string(type_name(column.type));
        if (!column.refers_to.empty())
            text += " REFERENCES " + std::string(column.refers_to);
    }
    if (table.key > 0)
        text += ", PRIMARY KEY (" + column_names(table, table.key) + ")";
    return text + ")";
}

std::string insertion(const Table& table)
{
    std::string text = "INSERT INTO " + std::string(table.name) + " VALUES (";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        text += i > 0 ? ", ?" : "?";
    return text + ")";
}

} // namespace

/// Nobody sees the file before it is whole, so nothing has to be undone.
Database::Database(const std::string& path)
{
    sqlite3* database = nullptr;
    const int result =
        sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    m_database.reset(database);
    check(result);
    execute("PRAGMA journal_mode = OFF");
    execute("PRAGMA synchronous = OFF");
    // Each thread that sorts for an index has so much memory, twice.
    execute("PRAGMA threads = " +
            std::to_string(std::min(most_sorting_threads, std::thread::hardware_concurrency())));
    execute("PRAGMA cache_size = -8192"); // kilobytes
    execute("BEGIN");
    for (const Table& table : tables::tables()) {
        execute(definition(table));
        m_inserts.push_back(prepare(insertion(table)));
    }
}

void Database::check(int result, int expected) const
{
    if (result != expected)
        throw ConvertError("SQLite cannot write: " +
                           std::string(m_database ? sqlite3_errmsg(m_database.get()) : "no memory"));
}

Database::Statement Database::prepare(const std::string& text) const
{
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(m_database.get(), text.c_str(), -1, &statement, nullptr));
    return Statement(statement);
}

void Database::execute(const std::string& statement)
{
    check(sqlite3_exec(m_database.get(), statement.c_str(), nullptr, nullptr, nullptr));
}

void Database::add(tables::Which table, std::span<const Value> row)
{
    sqlite3_stmt* const insert = m_inserts[static_cast<std::size_t>(table)].get();
    int place = 0;
    for (const Value& value : row)
        bind(insert, ++place, value);
    check(sqlite3_step(insert), SQLITE_DONE); // texts live until here
    check(sqlite3_reset(insert));
}

void Database::bind(sqlite3_stmt* statement, int place, const Value& value)
{
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        check(sqlite3_bind_int64(statement, place, *integer));
    } else if (const auto* real = std::get_if<double>(&value)) {
        check(sqlite3_bind_double(statement, place, *real));
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
        const std::string_view valid = tables::valid_text(*text, m_buffer);
        const char* const begin = valid.empty() ? "" : valid.data(); // null would be no text
        const auto lifetime = valid.data() == m_buffer.data() ? SQLITE_TRANSIENT : SQLITE_STATIC;
        check(sqlite3_bind_text64(statement, place, begin, valid.size(), lifetime, SQLITE_UTF8));
    } else {
        check(sqlite3_bind_null(statement, place));
    }
}

void Database::close()
{
    m_inserts.clear();
    execute("COMMIT");
    check(sqlite3_close(m_database.get()));
    static_cast<void>(m_database.release());
}

} // namespace hdtrace::exporter::sqlite
