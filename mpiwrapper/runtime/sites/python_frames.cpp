#include "mpiwrapper/runtime/sites/python_frames.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

namespace hdtrace::mpi {

namespace {

// Where the members of CPython's objects lie, in bytes; equal in all releases with the same first two
// numbers.
struct Layout {
    unsigned version; // the first two numbers of it: 0x030b is 3.11
    int thread_stack, stack_frame;
    int frame_code, frame_previous, frame_instruction;
    int code_first_line, code_file, code_name, code_lines, code_instructions;
    int text_length, text_state, text_ascii, text_other;
};

constexpr Layout layouts[] = {
    {0x030b, 56, 8, 32, 48, 56, 72, 112, 128, 136, 184, 16, 32, 48, 72},
};

// The interpreter, if the process has one.
struct Interpreter {
    const Layout* layout = nullptr;
    const char* (*own_thread)() = nullptr;                       ///< PyGILState_GetThisThreadState()
    int (*line_of)(const void* code, int instruction) = nullptr; ///< PyCode_Addr2Line(): only reads the code
};

template <typename Function> void find(Function& function, const char* name)
{
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

Interpreter found_interpreter;

void find_interpreter()
{
    Interpreter found;
    const auto* const version = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "Py_Version"));
    find(found.own_thread, "PyGILState_GetThisThreadState");
    find(found.line_of, "PyCode_Addr2Line");
    if (version == nullptr || found.own_thread == nullptr || found.line_of == nullptr)
        return;
    for (const Layout& layout : layouts)
        if (*version >> 16 == layout.version)
            found.layout = &layout;
    found_interpreter = found;
}

const Interpreter& interpreter()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_interpreter);
    return found_interpreter;
}

template <typename Value> Value read(const char* object, int offset)
{
    Value value;
    memcpy(&value, object + offset, sizeof value);
    return value;
}

const char* pointer(const char* object, int offset)
{
    return read<const char*>(object, offset);
}

char* put_utf8(char* out, uint32_t character)
{
    const auto put = [&](uint32_t byte) { *out++ = static_cast<char>(byte); };
    if (character < 0x80) {
        put(character);
    } else if (character < 0x800) {
        put(0xc0 | character >> 6);
        put(0x80 | (character & 0x3f));
    } else if (character < 0x10000) {
        put(0xe0 | character >> 12);
        put(0x80 | (character >> 6 & 0x3f));
        put(0x80 | (character & 0x3f));
    } else {
        put(0xf0 | character >> 18);
        put(0x80 | (character >> 12 & 0x3f));
        put(0x80 | (character >> 6 & 0x3f));
        put(0x80 | (character & 0x3f));
    }
    return out;
}

// A str in UTF-8, cut off where there is no room. PyUnicode_AsUTF8() would keep its result in the object.
template <size_t Size> const char* text_of(const char* object, char (&buffer)[Size])
{
    const Layout& layout = *interpreter().layout;
    const auto state = read<uint32_t>(object, layout.text_state);
    const uint32_t kind = state >> 2 & 7;
    const bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
    const auto length = is_compact ? read<intptr_t>(object, layout.text_length) : 0;
    const char* const characters = object + (is_ascii ? layout.text_ascii : layout.text_other);
    char* out = buffer;
    for (intptr_t i = 0; i < length && out + 5 < buffer + Size; ++i) {
        uint32_t character = 0;
        memcpy(&character, characters + i * kind, kind <= sizeof character ? kind : 0);
        out = put_utf8(out, character);
    }
    *out = '\0';
    return buffer;
}

// What imports modules, and mpi4py's own files: the program is behind them.
bool is_in_between(const char* code)
{
    constexpr char importer[] = "<frozen importlib";
    char buffer[PATH_MAX];
    const char* const file = text_of(pointer(code, interpreter().layout->code_file), buffer);
    return strstr(file, "/mpi4py/") != nullptr || strncmp(file, importer, sizeof importer - 1) == 0;
}

} // namespace

uintptr_t PythonFrame::key() const
{
    const Layout& layout = *interpreter().layout;
    uintptr_t key = reinterpret_cast<uintptr_t>(code);
    const uintptr_t parts[] = {reinterpret_cast<uintptr_t>(pointer(code, layout.code_lines)),
                               static_cast<uintptr_t>(read<int>(code, layout.code_first_line)),
                               static_cast<uintptr_t>(instruction)};
    for (const uintptr_t part : parts)
        key = (key ^ part) * 0x9e3779b97f4a7c15u;
    return key;
}

bool PythonFrame::has_file() const
{
    char buffer[8];
    return *text_of(pointer(code, interpreter().layout->code_file), buffer) != '<';
}

void PythonFrame::put(TextBuffer& line) const
{
    const Layout& layout = *interpreter().layout;
    char given[PATH_MAX], path[PATH_MAX], name[1024];
    text_of(pointer(code, layout.code_file), given);
    line.text("path='").info_escaped(realpath(given, path) != nullptr ? path : given);
    line.text("' function='").info_escaped(text_of(pointer(code, layout.code_name), name));
    line.text("' line=").number(interpreter().line_of(code, instruction));
}

int find_python_frames(PythonFrame* frames, int most)
{
    const Layout* const layout = interpreter().layout;
    const char* const thread = layout != nullptr ? interpreter().own_thread() : nullptr;
    if (thread == nullptr)
        return 0;
    int count = 0;
    const char* frame = pointer(pointer(thread, layout->thread_stack), layout->stack_frame);
    for (; frame != nullptr && count < most; frame = pointer(frame, layout->frame_previous)) {
        const char* const code = pointer(frame, layout->frame_code);
        const auto instruction =
            pointer(frame, layout->frame_instruction) - (code + layout->code_instructions);
        if (instruction >= 0 && !is_in_between(code)) // a function that has not begun yet calls nothing
            frames[count++] = {code, static_cast<int>(instruction)};
    }
    return count;
}

} // namespace hdtrace::mpi
