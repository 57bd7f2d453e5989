// shared_types.h - what several parts of the module hand out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <pybind11/pybind11.h>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/format/trc_reader.h"

namespace hdtrace {

/// As Python holds it.
using ProjectPointer = std::shared_ptr<OpenedProject>;

/// A state with whose it is.
struct OwnedState : State {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
    std::shared_ptr<const OpenedProject> project;
    std::string region; ///< that it is in, as a path; empty outside
};

/// As Python holds it, and the project with it; None if there is none.
inline std::shared_ptr<CallSite> shared_site(const std::shared_ptr<const OpenedProject>& project,
                                             const CallSite* site)
{
    return site ? std::shared_ptr<CallSite>(project, const_cast<CallSite*>(site)) : nullptr;
}

/// One for each host of the project, as docs/analyze.md says.
pybind11::list clock_rows(const OpenedProject& project);

} // namespace hdtrace
