// for_each_position.h - works on many things on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace hdtrace::detail {

/// So many, or as many as there are cores if @p threads is 0.
std::size_t number_of_threads(unsigned threads);

/// Calls @p work once for each number from 0 on below @p count, in several threads at a time, beginning with
/// the first ones, and returns when all is done. Once one throws, no other is begun, and what the first of
/// those throws that were begun is thrown here: it is the same each time. @p threads: 0 takes as many as
/// there are cores; where there may be no more, those that are there do it. @p work has to protect what it
/// shares.
void for_each_position(std::size_t count, const std::function<void(std::size_t)>& work, unsigned threads = 0);

} // namespace hdtrace::detail
