// The Python interpreter of the process, and where its objects keep what is read of them.
#pragma once

namespace hdtrace::mpi {

/// What is read of CPython's objects.
enum PythonMember {
    thread_frame, ///< the innermost frame, or what points to what has it at stack_frame
    stack_frame,
    frame_code,
    frame_previous,
    frame_instruction,
    frame_owner,
    code_first_line,
    code_file,
    code_name,
    code_lines,
    code_instructions,
    object_type,
    text_length,
    text_state,
    text_ascii, ///< where the characters are, if all are ASCII
    text_size,  ///< of a whole str: without its last pointer it is where other characters are
    member_count
};

/// Where the members are; equal in all releases with the same first two numbers.
struct PythonLayout {
    unsigned version; ///< the first two numbers of it: 0x030b is 3.11
    int place[member_count];
};

struct PythonInterpreter {
    bool is_known = false; ///< there is one, and its layout is known
    PythonLayout layout = {};
    const void* code_type = nullptr;
    const char* (*own_thread)() = nullptr;                       ///< PyGILState_GetThisThreadState()
    int (*line_of)(const void* code, int instruction) = nullptr; ///< PyCode_Addr2Line(): only reads the code
};

/// That of the process, if it has one.
const PythonInterpreter& python_interpreter();

} // namespace hdtrace::mpi
