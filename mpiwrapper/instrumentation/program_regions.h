// What the libraries share that turn other tools' interfaces into regions: each is loaded where a program
// asks for it, and does nothing where the process is not traced.
#pragma once

#include "hdtrace/include/hdRegion.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HDT_INTERFACE extern "C" __attribute__((visibility("default")))

namespace hdtrace::instrumentation {

/// Programs use these interfaces also before MPI_Init and after MPI_Finalize: that is no error.
inline bool is_traced()
{
    const int state = hdR_state();
    return state == HD_RECORDING || state == HD_PAUSED;
}

/// A name that is cut where it is too long for the tracer; not in the middle of a character.
class ShortName {
  public:
    explicit ShortName(const char* name)
    {
        if (name == nullptr || *name == '\0')
            name = "?";
        size_t length = strnlen(name, HD_LONGEST_NAME + 1);
        if (length > HD_LONGEST_NAME) {
            length = longest_cut;
            while ((name[length] & 0xc0) == 0x80)
                --length;
            strcpy(m_text + length, "...");
        }
        memcpy(m_text, name, length);
    }
    const char* text() const { return m_text; }

  private:
    static constexpr size_t longest_cut = HD_LONGEST_NAME - 3;

    char m_text[HD_LONGEST_NAME + 1] = {};
};

/// What ends a region: what the tracer knows it as; null if it was not begun.
using Begun = void*;

inline Begun begin(const char* group, const char* name)
{
    const ShortName short_name(name);
    hdRegion region = {group, short_name.text(), nullptr, 0, HD_NO_SITE, nullptr};
    return is_traced() && hdR_begin(&region) == 0 ? region.known : nullptr;
}

inline void end(Begun begun)
{
    const hdRegion region = {nullptr, "?", nullptr, 0, HD_NO_SITE, begun};
    if (begun != nullptr && is_traced())
        hdR_end(&region);
}

inline void mark(const char* group, const char* name, const char* text = nullptr)
{
    const ShortName short_name(name);
    hdRegion region = {group, short_name.text(), nullptr, 0, HD_NO_SITE, nullptr};
    if (is_traced())
        hdR_mark(&region, text);
}

/// The regions that a thread is in, where an interface ends them without a name.
class Stack {
  public:
    void push(Begun begun)
    {
        if (m_count < most)
            m_begun[m_count] = begun;
        ++m_count;
    }
    void pop()
    {
        if (m_count > 0 && --m_count < most)
            end(m_begun[m_count]);
    }

  private:
    static constexpr int most = 256; // deeper ones are not ended
    int m_count = 0;
    Begun m_begun[most] = {};
};

} // namespace hdtrace::instrumentation
