// Reads the binary file of one process, record by record.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merger/dumpi/constants.h"
#include "merger/dumpi/functions.h"

namespace hdtrace::importer::dumpi {

struct Status {
    std::int64_t bytes = 0;
    std::int64_t source = 0;
    bool is_cancelled = false;
    std::int32_t error = 0;
    std::int64_t tag = 0;
};

/// An argument of a record. What it has depends on its code and its dimensions.
struct Value {
    const hdtrace::dumpi::Argument* argument = nullptr;
    std::int64_t number = 0;
    std::vector<std::int64_t> numbers;
    std::vector<std::vector<std::int64_t>> rows;
    std::string text;
    std::vector<std::string> texts;
    std::vector<std::vector<std::string>> text_rows;
    std::vector<Status> statuses;
};

struct Record {
    const hdtrace::dumpi::Function* function = nullptr; ///< null: the program enters or leaves something
    std::uint16_t label = 0;
    std::uint64_t offset = 0; ///< where it begins in the file
    std::int64_t thread = 0;
    bool has_time = false;
    std::int64_t time = 0; ///< nanoseconds by the clock of the file
    std::int64_t end = 0;
    std::uint64_t address = 0; ///< of what it enters or leaves
    std::vector<Value> values;

    /// Null if it has no such argument.
    const Value* find(std::string_view name) const;
    /// @p otherwise if it has none.
    std::int64_t number(std::string_view name, std::int64_t otherwise = 0) const;
};

class BinReader {
  public:
    /// Reads what stands behind the records. Throws ImportError, as all functions.
    explicit BinReader(const std::string& path);

    const std::string& path() const { return m_path; }
    std::int64_t start() const { return m_start; } ///< of the run, in seconds since the epoch
    const std::string& host() const { return m_host; }
    const std::string& user() const { return m_user; }
    /// "1.1.0"
    std::string version() const;
    /// Of datatypes by their numbers, in bytes; 0 is unknown.
    const std::vector<std::int32_t>& datatype_sizes() const { return m_sizes; }
    /// The names of what the program enters and leaves, by address.
    const std::map<std::uint64_t, std::string>& names() const { return m_names; }
    const std::map<std::string, std::string>& notes() const { return m_notes; }
    /// Calls by label that are not in the file.
    const std::vector<std::uint32_t>& ignored() const { return m_ignored; }

    /// @p record's memory is used again. False behind the last one.
    bool next(Record& record);
    /// Something is wrong with the record that was read last.
    [[noreturn]] void fail(const std::string& what) const;

  private:
    [[noreturn]] void fail_at(std::uint64_t offset, const std::string& what) const;
    void seek(std::uint64_t offset);
    void need(std::size_t bytes);
    std::uint64_t unsigned_number(std::size_t width);
    std::int64_t number(std::size_t width, bool is_signed);
    std::string text(std::size_t length_width);
    std::uint32_t count(std::size_t bytes_of_one);

    void read_index();
    void read_header();
    void read_footer();
    void read_side_sections();

    void read_prefix(Record& record, std::uint8_t& mask);
    std::int64_t read_time();
    void read_arguments(Record& record, bool has_statuses);
    void read_value(Value& value, bool has_statuses);
    void read_statuses(Value& value, bool has_statuses);
    std::int64_t read_number(hdtrace::dumpi::Code code);
    bool is_older_than(int major, int minor, int patch) const;
    bool is_plain_number(const Record& record, const Value& value) const;

    std::string m_path;
    std::ifstream m_file;
    std::uint64_t m_size = 0;
    std::uint64_t m_place = 0; ///< of the first byte of the buffer
    std::string m_buffer;
    std::size_t m_used = 0; ///< of the buffer

    std::uint64_t m_header = 0, m_body = 0, m_footer = 0, m_notes_place = 0;
    std::uint64_t m_sizes_place = 0, m_names_place = 0, m_labels_place = 0;
    int m_version[3] = {};
    std::int64_t m_start = 0;
    std::string m_host, m_user;
    std::vector<std::int32_t> m_sizes;
    std::map<std::uint64_t, std::string> m_names;
    std::map<std::string, std::string> m_notes;
    std::vector<std::uint32_t> m_ignored;

    std::int64_t m_bias = 0;
    std::int64_t m_last_second = 0; ///< as the file has it
    std::int64_t m_wrapped = 0;     ///< seconds that are to be added
    std::uint64_t m_record = 0;     ///< where the last one begins
    bool m_at_end = false;
};

} // namespace hdtrace::importer::dumpi
