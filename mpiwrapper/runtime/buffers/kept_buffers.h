// What a call can tell of its buffers, until it has succeeded: before that its arguments may be anything.
#pragma once

#include "hdtrace/writer/text_buffer.h"

#include <string.h>
#include <type_traits>

namespace hdtrace::mpi {

class Buffers;

/// Belongs to one thread, for the outermost call that it is in. Calls in callbacks of MPI tell nothing.
class KeptBuffers {
  public:
    /// @p describe will be called with Buffers; it is copied. @p call is the number of the call.
    template <typename Describe> void keep(int call, const Describe& describe)
    {
        static_assert(sizeof(Describe) <= sizeof m_description && std::is_trivially_copyable_v<Describe>);
        if (call != 0)
            return;
        memcpy(m_description, static_cast<const void*>(&describe), sizeof describe);
        m_describe = [](const void* description, Buffers& buffers) {
            (*static_cast<const Describe*>(description))(buffers);
        };
    }
    void describe(int call, Buffers& buffers)
    {
        if (call != 0 || m_describe == nullptr)
            return;
        m_describe(m_description, buffers);
        m_describe = nullptr;
    }

    /// What a call tells.
    TextBuffer reads;
    TextBuffer writes;
    TextBuffer changed;
    TextBuffer used;
    TextBuffer window;
    TextBuffer pointers;

  private:
    alignas(16) char m_description[192];
    void (*m_describe)(const void* description, Buffers& buffers) = nullptr;
};

} // namespace hdtrace::mpi
