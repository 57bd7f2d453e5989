// A database of SQLite that is written once.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "merger/export/tables/tables.h"

namespace hdtrace::exporter::sqlite {

/// All functions throw ConvertError.
class Database : public tables::RowSink {
  public:
    /// Makes the tables in a file that is empty.
    explicit Database(const std::string& path);

    void add(tables::Which table, std::span<const tables::Value> row) override;
    void execute(const std::string& statement);
    /// All rows are in the file.
    void close();

  private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
    };
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

    void check(int result, int expected = SQLITE_OK) const;
    Statement prepare(const std::string& text) const;
    void bind(sqlite3_stmt* statement, int place, const tables::Value& value);

    std::unique_ptr<sqlite3, Close> m_database;
    std::vector<Statement> m_inserts; ///< of each table
    std::string m_buffer;
};

} // namespace hdtrace::exporter::sqlite
