// A directory with a file of comma-separated values for each table.

#include <charconv>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>

#include "hdtrace/writer/text.h"
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

constexpr std::size_t longest_number = 32;

/// How many bytes it takes at most, with what stands behind it.
std::size_t most_bytes(const Value& value)
{
    const auto* const text = std::get_if<std::string_view>(&value);
    if (!text)
        return longest_number;
    constexpr std::size_t most_for_one = 3; // U+FFFD for what is no UTF-8; quotes become two
    return most_for_one * text->size() + sizeof "\"\",";
}

char* put(char* place, std::string_view text)
{
    std::memcpy(place, text.data(), text.size());
    return place + text.size();
}

char* put_quoted(char* place, std::string_view text)
{
    *place++ = '"';
    for (const char c : text) {
        if (c == '"')
            *place++ = '"';
        *place++ = c;
    }
    *place++ = '"';
    return place;
}

/// What is not known is an empty field, and an empty text is one in quotes.
char* put_text(char* place, std::string_view text, std::string& buffer)
{
    if (!text.empty() && plain_size<',', '"'>(text) == text.size()) // as most are
        return put(place, text);
    text = tables::valid_text(text, buffer);
    return !text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos ? put(place, text)
                                                                                    : put_quoted(place, text);
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
        std::size_t most = sizeof '\n';
        for (const Value& value : row)
            most += most_bytes(value);
        char* place = m_output.room_for(most);
        for (const Value& value : row) {
            if (&value != row.data())
                *place++ = ',';
            place = put_value(place, value);
        }
        *place++ = '\n';
        m_output.used_until(place);
    }

    void close()
    {
        m_output.flush();
        m_file.close();
    }

  private:
    char* put_value(char* place, const Value& value)
    {
        if (const auto* integer = std::get_if<std::int64_t>(&value))
            return put_number(place, *integer);
        if (const auto* text = std::get_if<std::string_view>(&value))
            return put_text(place, *text, m_buffer);
        if (const auto* real = std::get_if<double>(&value))
            return std::to_chars(place, place + longest_number, *real).ptr;
        return place;
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
