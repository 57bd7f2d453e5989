// unlocked.h - reading while the rest of Python goes on.
#pragma once

#include <pybind11/pybind11.h>

#include "hdtrace/format/interruption.h"

namespace hdtrace {

/// While it exists, other threads of Python run, and Ctrl-C ends what the readers do.
class Unlocked {
  private:
    static void check_signals()
    {
        const pybind11::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0)
            throw pybind11::error_already_set();
    }

    pybind11::gil_scoped_release m_release;
    InterruptionCheck m_check{check_signals};
};

/// Deletes what has threads of its own, which may be in Python.
struct UnlockedDelete {
    template <class Object> void operator()(Object* object) const
    {
        const pybind11::gil_scoped_release release;
        delete object;
    }
};

} // namespace hdtrace
