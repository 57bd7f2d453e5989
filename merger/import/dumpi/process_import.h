// The records of one process as calls of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hdtrace/calls/calls.h"
#include "merger/import/dumpi/bin_reader.h"
#include "merger/import/dumpi/communicators.h"
#include "merger/import/source.h"
#include "merger/import/traces.h"

namespace hdtrace::importer::dumpi {

class ProcessImport {
  public:
    /// @p shift: nanoseconds from the clock of the file to the time of day.
    ProcessImport(BinReader& reader, RunCommunicators& communicators, ProcessTrace& trace, std::int64_t rank,
                  std::int64_t shift, exporter::Account& account);

    void write(const Record& record);
    void close();

  private:
    using Argument = hdtrace::dumpi::Argument;
    using Code = hdtrace::dumpi::Code;
    using Source = hdtrace::dumpi::Source;

    struct Request {
        std::int64_t rid = -1;
        bool is_persistent = false;
        std::int64_t active = -1; ///< of a persistent one, the rid of its operation
        bool receives = false;
        bool is_access = false; ///< to a file
        std::int64_t size = 0;  ///< of the access, in bytes
        RunCommunicator* communicator = nullptr;
    };
    /// What a call says for each member.
    struct Shares {
        std::map<std::string_view, const std::vector<std::int64_t>*, std::less<>> values; ///< by attribute
    };

    void moment(const Record& record);
    ThreadTrace& thread(std::int64_t number);
    void write_to(std::int64_t number, const State& state);
    State state_of(const Record& record) const;

    void begin(const Record& record, const State& state);
    void describe_results(const Record& record);
    void describe_type(const Record& record);
    std::optional<std::size_t> length_of_arrays(const Record& record) const;
    void describe_window(const Record& record);

    void put(State& state, const Value& value);
    void put_array(State& state, const Value& value, const Source& source);
    void put_shares(State& state, const Record& record);
    void put_sizes(State& state);
    std::optional<std::string> text_of(const Argument& argument, const Source& source, std::int64_t number);
    std::optional<std::string> rank_text(const Source& source, std::int64_t number);
    std::optional<std::string> assertions(std::int64_t number) const;

    void put_status(State& state, const Record& record);
    void add_status(Element& element, const Status& status, const RunCommunicator* communicator) const;
    std::int64_t source_of(std::int64_t number, const RunCommunicator* communicator) const;

    void put_request(State& state, const Value& value);
    void start(Element& element, std::int64_t number);
    void complete(State& state, const Record& record);
    void complete_one(State& state, std::int64_t number, const Status* status);
    Request* find_request(std::int64_t number);
    void forget_request(std::int64_t number);
    void finish_access(State& state, const Record& record);

    std::int64_t communicator_id(RunCommunicator* communicator);
    RunCommunicator* communicator_of(std::int64_t number);
    std::optional<Ranks> group_of(std::int64_t number);
    std::int64_t type_id(std::int64_t number);
    std::optional<std::int64_t> size_of_type(std::int64_t id) const;
    std::optional<std::int64_t> size_of_number(std::int64_t number) const;

    BinReader& m_reader;
    RunCommunicators& m_communicators;
    ProcessTrace& m_trace;
    std::int64_t m_rank;
    std::int64_t m_shift;
    exporter::Account& m_account;
    ProcessNames m_names;

    // Of the current record.
    const CallFacts* m_facts = nullptr;
    RunCommunicator* m_communicator = nullptr;
    bool m_is_unclear = false; ///< it names a communicator of which nothing tells who its members are
    std::map<std::string_view, Shares, std::less<>> m_shares; ///< by the names of child elements
    const Value* m_posted_source = nullptr;
    const Value* m_posted_tag = nullptr;
    const RunCommunicator* m_peer = nullptr;   ///< of the leader's of the other side
    std::optional<std::int64_t> m_transferred; ///< bytes of an access to a file

    std::map<std::int64_t, std::unique_ptr<ThreadTrace>> m_threads;
    std::unordered_map<const RunCommunicator*, std::int64_t> m_communicator_ids;
    std::unordered_map<std::int64_t, std::int64_t> m_types;      ///< ids by number
    std::unordered_map<std::int64_t, std::int64_t> m_type_sizes; ///< by id
    std::int64_t m_next_type = 0;
    std::unordered_map<std::int64_t, std::int64_t> m_files; ///< ids by number
    std::map<std::string, std::int64_t, std::less<>> m_file_ids;
    std::unordered_set<std::int64_t> m_viewed; ///< files, by number, that have views
    std::unordered_map<std::int64_t, std::pair<std::int64_t, RunCommunicator*>> m_windows; ///< by number
    std::int64_t m_next_window = 0;
    std::unordered_map<const RunCommunicator*, std::int64_t> m_window_counts;
    std::int64_t m_next_rid = 0;
    std::unordered_map<std::int64_t, Request> m_requests; ///< by number
    std::unordered_map<std::int64_t, Request> m_accesses; ///< those of files, which others number apart
    std::unordered_map<std::int64_t, std::pair<std::int64_t, std::int64_t>>
        m_splits; ///< by file the rid and the bytes
};

} // namespace hdtrace::importer::dumpi
