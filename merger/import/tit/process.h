// One process of a time-independent trace, as calls.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "merger/import/source.h"
#include "merger/import/tit/action_reader.h"
#include "merger/import/traces.h"

namespace hdtrace::importer::tit {

/// A form of arguments that an action has: one letter for each.
struct CollectiveForm {
    std::string_view action;
    std::string_view call;
    std::string_view arguments;
};

class Process {
  public:
    /// @p seconds_per_operation: 0 if no times are wanted. @p unwaited: as UnwaitedSends has them. @p import
    /// must outlive this.
    Process(const Import& import, std::int64_t rank, std::int64_t size, double seconds_per_operation,
            std::set<std::int64_t> unwaited);

    /// @p reader: where the action stands. Throws ImportError.
    void add(const Action& action, const ActionReader& reader);
    void close();

  private:
    /// Takes the arguments of an action one after the other.
    class Arguments;
    struct Message {
        std::int64_t source, destination, tag;
        auto operator<=>(const Message&) const = default;
    };
    struct Request {
        std::int64_t rid;
        std::optional<Message> receives; ///< what comes with it
        std::int64_t size;
    };

    bool add_local(const Action& action, Arguments& arguments);
    bool add_message(const Action& action, Arguments& arguments);
    bool add_completion(const Action& action, Arguments& arguments);
    bool add_collective(const Action& action, Arguments& arguments);
    void exchange(Arguments& arguments);
    void add_request(State& call, const Message& message, bool sends);
    void fill(State& call, const CollectiveForm& form, Arguments& arguments);

    static State call(std::string_view name);
    void compute(double operations);
    void write(State& call, double operations = 0);
    static Element completion_of(const Request& request);
    std::int64_t type_id(std::int64_t code);
    void add_type(Element& element, std::string_view size_name, std::string_view count_name,
                  std::string_view type_name, std::int64_t count, std::int64_t code,
                  const Arguments& arguments);

    const Import& m_import;
    std::int64_t m_rank;
    std::int64_t m_size;
    double m_seconds_per_operation;
    std::set<std::int64_t> m_unwaited;
    double m_now = 0; ///< in seconds
    std::int64_t m_default_type;
    std::int64_t m_started = 0; ///< operations that do not block
    std::int64_t m_next_rid = 0;
    std::map<Message, std::deque<Request>> m_pending;
    std::map<std::int64_t, std::int64_t> m_type_ids; ///< by the number in the trace
    ProcessTrace m_process;
    ThreadTrace m_thread;
};

} // namespace hdtrace::importer::tit
