// Processes that need nothing of each other, on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace hdtrace::exporter {

/// Calls @p work with each number below @p count, in as many threads as there are cores, beginning with the
/// first ones, and returns when all is done. Once one throws, no other is begun, and what the first of those
/// throws that were begun is thrown here: it is the same each time. @p work has to protect what it shares.
void for_each_rank(std::size_t count, const std::function<void(std::size_t)>& work);

} // namespace hdtrace::exporter
