// Where a Python program is that calls MPI through mpi4py, which has given up the interpreter's lock. A
// thread's own frames stay as they are while it is in a call, so they are read as they lie in memory; nothing
// is asked of the interpreter that could touch its objects.
#pragma once

#include "hdtrace/writer/text_buffer.h"

#include <stdint.h>

namespace hdtrace::mpi {

/// A function of a Python program that is in a call. Belongs to the interpreter.
struct PythonFrame {
    const char* code = nullptr; ///< the code object of the function
    int instruction = 0;        ///< bytes from the code's first instruction to the one that calls

    /// What tells it from all others, unless the interpreter has put another code object in its place.
    uintptr_t key() const;
    /// Whether the code comes from a file: else it may be made again and again in the same place.
    bool has_file() const;
    /// The file, the function and the line of the call, as an .info has them.
    void put(TextBuffer& line) const;
};

/// The frames of the calling thread of the program itself: not of mpi4py's own files and of what imports
/// them; the innermost first, at most @p most. None if there is no interpreter, or one whose frames are not
/// known. Allocates nothing.
int find_python_frames(PythonFrame* frames, int most);

} // namespace hdtrace::mpi
