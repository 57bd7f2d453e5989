// one_sided_rules.h - whether the user's rules leave out one side of what belongs together (docs/rules.md).
#pragma once

#include "hdtrace/format/proj_reader.h"

namespace hdtrace {

/// Order tells which calls belong together: the first that one process sends is the first that another one
/// receives. Where some of one side are left out the others would meet wrong ones, so nothing is put
/// together.
struct OneSidedRules {
    bool of_messages = false;    ///< such as small sends, but not their receives
    bool of_collectives = false; ///< such as the broadcasts of one process
};

/// What the rules of a run make possible. Where all processes told which functions they left out calls of,
/// only these count. Rules for a while, such as those about regions, are taken to hold for both sides alike.
/// Throws nothing.
OneSidedRules one_sided_rules(const Project& project);

} // namespace hdtrace
