// A project as tables: what csv and sqlite write. Here is the one description of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hdtrace::exporter::tables {

enum class Type : std::uint8_t { integer, real, text };
/// In SQL.
std::string_view type_name(Type type);

/// Texts of descriptions are literals.
struct Column {
    std::string_view name;
    Type type;
    std::string_view refers_to; ///< the table whose key it is; empty: none
    std::string_view description;
};

/// As places in tables().
enum class Which : std::uint8_t {
    columns,
    run,
    processes,
    threads,
    communicators,
    members,
    files,
    windows,
    datatypes,
    sites,
    calls,
    requests,
    messages,
    collectives,
    collective_calls,
    marks,
    counters,
};

struct Table {
    std::string_view name;
    std::size_t key; ///< so many of its first columns identify a row; 0: it has no key
    std::vector<Column> columns;
};

/// In the order of Which.
const std::vector<Table>& tables();

/// Of a column of its type; nothing where it is not known. Texts may have any bytes.
using Value = std::variant<std::monostate, std::int64_t, double, std::string_view>;

/// The text as UTF-8: what is none is replaced. @p buffer keeps what is new.
std::string_view valid_text(std::string_view text, std::string& buffer);

class RowSink {
  public:
    virtual ~RowSink() = default;
    /// Throws what it wants to. There is a value for each column.
    virtual void add(Which table, std::span<const Value> row) = 0;
};

} // namespace hdtrace::exporter::tables
