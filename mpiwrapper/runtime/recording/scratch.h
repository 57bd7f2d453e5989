// Memory for one call.
#pragma once

#include <stddef.h>

namespace hdtrace::mpi {

/// Memory for the copies of handles and statuses that a completion call needs; grows and is kept. Calls
/// inside such a call get memory of their own.
///
/// Belongs to one thread. Only give_back() may be called by others, where a call ends in another one.
class Scratch {
  public:
    Scratch() = default;
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    /// Null if memory is short.
    void* take(size_t size);
    void give_back(void* memory);
    /// The call that took it was left by longjmp() or an exception, and so will never give it back.
    void take_back() { __atomic_store_n(&m_is_taken, false, __ATOMIC_RELEASE); }

  private:
    void* m_memory = nullptr;
    size_t m_size = 0;
    bool m_is_taken = false; // atomic
};

} // namespace hdtrace::mpi
