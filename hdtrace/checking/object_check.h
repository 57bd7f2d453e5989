// object_check.h - that objects which the program makes are freed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/checking/findings.h"

namespace hdtrace {

/// Which functions' calls a process made are not in its traces.
class LeftOutCalls {
  public:
    explicit LeftOutCalls(const Run& run);

    bool contains(std::int64_t rank, std::string_view function) const;
    /// Of any function that frees such objects.
    bool has_freeing(std::int64_t rank, ObjectKind kind) const;

  private:
    std::set<std::pair<std::string, std::int64_t>> m_calls; ///< the function and the rank
};

class ObjectCheck : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit ObjectCheck(Findings& findings)
        : m_findings(findings), m_left_out(findings.project().project.run)
    {
    }

    void made(const Call& call, ObjectKind kind, std::int64_t id) override;
    void freed(const Call& call, ObjectKind kind, std::int64_t id) override;
    void leave(const Call& call) override;

    void finish();

  private:
    struct Made {
        CallPlace place;
        std::string call;
        std::int64_t count = 0;
    };
    /// Of one kind, in one process: by what the trace calls them. Files are opened several times by one name.
    using Objects = std::map<std::string, std::vector<Made>>;

    void report_leaks(std::int64_t rank, ObjectKind kind, const Objects& objects);
    bool must_be_freed(std::int64_t rank, ObjectKind kind, const Call& call, std::int64_t id) const;

    Findings& m_findings;
    LeftOutCalls m_left_out;
    std::map<std::pair<std::int64_t, ObjectKind>, Objects> m_objects;
    std::set<std::int64_t> m_ended; ///< processes that returned from MPI_Finalize
};

} // namespace hdtrace
