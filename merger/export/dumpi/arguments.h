// The arguments of a call, written as the table of DUMPI's functions says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hdtrace/calls/calls.h"
#include "merger/dumpi/functions.h"
#include "merger/export/dumpi/bytes.h"
#include "merger/export/dumpi/offered_requests.h"
#include "merger/export/dumpi/process.h"

namespace hdtrace::exporter::dumpi {

/// A call whose arguments are wanted.
struct CallView {
    const Element& call;
    const std::vector<Element>& children;
    const CallFacts& facts;
    /// Of a call that completes operations, by their places in its array; and which of them have ended, in
    /// the order of the trace.
    const std::vector<OfferedRequest>* offered = nullptr;
    const std::vector<std::size_t>* ended = nullptr;
    /// Of one that completes an access to a file: the bytes that were transferred.
    std::optional<std::int64_t> transferred = std::nullopt;
};

/// What a record says otherwise than the program did.
struct Losses {
    bool is_missing = false; ///< traces do not have an argument
    bool is_guessed = false; ///< which object an argument is
    bool is_cut = false;     ///< a number is larger than the files can tell
};

class ArgumentWriter {
  public:
    explicit ArgumentWriter(Process& process) : m_process(process) {}

    Losses write(const hdtrace::dumpi::Function& function, const CallView& call, Bytes& bytes);
    /// What was received, as the element of a call or of a completion tells it. @p communicator: that ranks
    /// are of.
    Status status_of(const Element& what, const AttributeName& size, const Communicator* communicator) const;

  private:
    using Argument = hdtrace::dumpi::Argument;
    using Code = hdtrace::dumpi::Code;
    using Source = hdtrace::dumpi::Source;

    void write_argument(const Argument& argument);
    const Source* find_source(const Argument& argument) const;
    bool has(const Source& source) const;

    void write_scalar(const Argument& argument, const Source& source);
    std::string_view text_at(const Source& source) const;
    std::int64_t scalar(const Argument& argument, const Source& source);
    std::int64_t special(const Argument& argument, const Source& source);
    std::int64_t object_without_identity(Code code, bool is_new);

    void write_array(const Argument& argument, const Source& source);
    void write_list(const Argument& argument, const Source& source);
    void write_children(const Argument& argument, const Source& source);
    void write_members(const Argument& argument, const Source& source);
    void write_rows(const Argument& argument, const Source& source);
    void write_blocks(const Argument& argument, const Source& source);
    void write_special_array(const Argument& argument, const Source& source);
    void write_ranges(const Source& source);
    void write_commands();

    void write_statuses(const Source& source);
    void write_status(const Status& status);

    /// What stands for what the trace says.
    std::int64_t value(const Argument& argument, const Source& source, const Element& element,
                       const AttributeName& attribute);
    std::int64_t value(const Argument& argument, const Source& source, std::string_view text,
                       std::optional<std::int64_t> number);
    std::int64_t object_number(Code code, std::string_view text, std::int64_t number);
    std::int64_t constant(Code code, std::string_view name);
    std::int64_t file_mode(std::string_view name);
    std::int64_t sum_of_constants(Code code, std::string_view names);
    std::int64_t integer(const Argument& argument, const Source& source, std::string_view text,
                         std::optional<std::int64_t> number);
    /// The rank that the program passed.
    std::int64_t rank(const Source& source, std::int64_t global, bool is_translated);
    const Members& members_of(const Source& source) const;

    void put(const Argument& argument, std::int64_t value);
    std::size_t member_count() const;
    std::int64_t my_rank() const;
    const Datatype* described_type() const;

    Process& m_process;
    Bytes* m_bytes = nullptr;
    const CallView* m_call = nullptr;
    Losses m_losses;
    std::optional<std::int64_t> m_root;
};

} // namespace hdtrace::exporter::dumpi
