// for_each_position.h - works on many things on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace hdtrace::detail {

/// Calls @p work once for each number from 0 on below @p count, in several threads at a time, and returns
/// when all is done. What @p work throws first is thrown here; what was not begun by then is left out. @p
/// threads: 0 takes as many as there are cores.
void for_each_position(std::size_t count, const std::function<void(std::size_t)>& work, unsigned threads = 0);

} // namespace hdtrace::detail
