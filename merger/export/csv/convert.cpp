// A directory with a file of comma-separated values for each table.

#include <charconv>
#include <deque>
#include <string>
#include <string_view>

#include "merger/export/format.h"
#include "merger/export/output_directory.h"
#include "merger/export/plain_text.h"
#include "merger/export/tables/fill.h"
#include "merger/export/text_output.h"

namespace hdtrace::exporter {
namespace {

using tables::Table;
using tables::Value;
using tables::Which;

/// What is not known is an empty field, and an empty text is one in quotes.
void write_text(TextOutput& output, std::string_view text)
{
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
        output.text(text);
        return;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"')
            quoted += '"';
        quoted += c;
    }
    output.text(quoted += '"');
}

class CsvFile {
  public:
    CsvFile(const OutputDirectory& directory, const Table& table)
        : m_file(directory, std::string(table.name) + ".csv"),
          m_output([this](std::string_view text) { m_file.write(text); })
    {
        for (const tables::Column& column : table.columns)
            m_output.text(&column == table.columns.data() ? "" : ",").text(column.name);
        m_output.text("\n");
    }

    void add(std::span<const Value> row)
    {
        for (const Value& value : row) {
            if (&value != row.data())
                m_output.text(",");
            write(value);
        }
        m_output.text("\n");
    }

    void close()
    {
        m_output.flush();
        m_file.close();
    }

  private:
    void write(const Value& value)
    {
        if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            m_output.number(*integer);
        } else if (const auto* text = std::get_if<std::string_view>(&value)) {
            if (!text->empty() && plain_size<',', '"'>(*text) == text->size()) // as most are
                m_output.text(*text);
            else
                write_text(m_output, tables::valid_text(*text, m_buffer));
        } else if (const auto* real = std::get_if<double>(&value)) {
            char digits[64];
            m_output.text({digits, std::to_chars(digits, digits + sizeof digits, *real).ptr});
        }
    }

    DirectoryFile m_file;
    TextOutput m_output;
    std::string m_buffer;
};

class CsvTables : public tables::RowSink {
  public:
    explicit CsvTables(const OutputDirectory& directory)
    {
        for (const Table& table : tables::tables())
            m_files.emplace_back(directory, table);
    }

    void add(Which table, std::span<const Value> row) override
    {
        m_files[static_cast<std::size_t>(table)].add(row);
    }

    void close()
    {
        for (CsvFile& file : m_files)
            file.close();
    }

  private:
    std::deque<CsvFile> m_files; ///< they must not move
};

void convert_to_csv(const Project& project, const Options& options, Account& account)
{
    OutputDirectory directory(options.output);
    CsvTables files(directory);
    tables::fill(project, files, account);
    files.close();
    directory.commit();
}

} // namespace

Format csv_format()
{
    return {"csv",
            "a directory with tables of comma-separated values: OUT/calls.csv, OUT/messages.csv and others",
            convert_to_csv,
            {}};
}

} // namespace hdtrace::exporter
