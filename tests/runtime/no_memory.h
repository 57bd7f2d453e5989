// The runtime's requests for memory are refused where a test wants it.
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
