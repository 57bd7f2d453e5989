// The program is linked with --wrap, so that malloc, calloc and realloc of the runtime come to us first.
#pragma once

namespace hdtrace::test {

/// While it lives, memory is short for the thread that made it.
class NoMemory {
  public:
    NoMemory();
    ~NoMemory();
    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;
};

} // namespace hdtrace::test
