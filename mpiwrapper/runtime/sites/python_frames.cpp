#include "mpiwrapper/runtime/sites/python_frames.h"

#include "hdtrace/writer/program_memory.h"
#include "mpiwrapper/runtime/sites/python_interpreter.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

namespace hdtrace::mpi {

namespace {

constexpr unsigned char first_foreign_owner = 3; // of frames that stand for the interpreter's own code

int place_of(PythonMember member)
{
    return python_interpreter().layout.place[member];
}

template <typename Value> Value read(const char* object, PythonMember member)
{
    Value value;
    memcpy(&value, object + place_of(member), sizeof value);
    return value;
}

const char* pointer(const char* object, PythonMember member)
{
    return read<const char*>(object, member);
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
    const auto state = read<uint32_t>(object, text_state);
    const uint32_t kind = state >> 2 & 7;
    const bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
    const auto length = is_compact ? read<intptr_t>(object, text_length) : 0;
    const int other = place_of(text_size) - static_cast<int>(sizeof(void*));
    const char* const characters = object + (is_ascii ? place_of(text_ascii) : other);
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
    const char* const file = text_of(pointer(code, code_file), buffer);
    return strstr(file, "/mpi4py/") != nullptr || strncmp(file, importer, sizeof importer - 1) == 0;
}

// References may carry marks in their last bits.
const char* unmarked(const char* object)
{
    return object - (reinterpret_cast<uintptr_t>(object) & 3);
}

bool is_code(const char* object)
{
    return object != nullptr && read<const void*>(object, object_type) == python_interpreter().code_type;
}

const char* innermost_frame(const char* thread)
{
    const char* const found = pointer(thread, thread_frame);
    return place_of(stack_frame) < 0 || found == nullptr ? found : pointer(found, stack_frame);
}

template <typename Value> bool copy(Value& value, const char* object, int place)
{
    return copy_from_program(&value, object + place, sizeof value);
}

enum class Verdict { none, good, bad };

// Whether a thread's innermost frame is one of code. Nothing is sure here to be what it should be.
Verdict examine(const char* thread)
{
    const char *probe = thread, *frame = nullptr, *code = nullptr;
    const void* type = nullptr;
    if (!copy(probe, reinterpret_cast<const char*>(&thread), 0))
        return Verdict::good; // the kernel does not do it here: the version has to be enough
    if (!copy(frame, thread, place_of(thread_frame)) ||
        (place_of(stack_frame) >= 0 && !copy(frame, frame, place_of(stack_frame))))
        return Verdict::bad;
    if (frame == nullptr)
        return Verdict::none;
    return copy(code, frame, place_of(frame_code)) && copy(type, unmarked(code), place_of(object_type)) &&
                   type == python_interpreter().code_type
               ? Verdict::good
               : Verdict::bad;
}

// Whether the interpreter's objects are as its version says: what one thread shows holds for all.
bool is_as_expected(const char* thread)
{
    static Verdict verdict = Verdict::none;
    Verdict known = __atomic_load_n(&verdict, __ATOMIC_RELAXED);
    if (known == Verdict::none) {
        const int saved_errno = errno;
        known = examine(thread);
        errno = saved_errno;
        __atomic_store_n(&verdict, known, __ATOMIC_RELAXED);
    }
    return known == Verdict::good;
}

} // namespace

uintptr_t PythonFrame::key() const
{
    uintptr_t key = reinterpret_cast<uintptr_t>(code);
    const uintptr_t parts[] = {reinterpret_cast<uintptr_t>(pointer(code, code_lines)),
                               static_cast<uintptr_t>(read<int>(code, code_first_line)),
                               static_cast<uintptr_t>(instruction)};
    for (const uintptr_t part : parts)
        key = (key ^ part) * 0x9e3779b97f4a7c15u;
    return key;
}

bool PythonFrame::has_file() const
{
    char buffer[8];
    return *text_of(pointer(code, code_file), buffer) != '<';
}

void PythonFrame::put(TextBuffer& line) const
{
    char given[PATH_MAX], path[PATH_MAX], name[1024];
    text_of(pointer(code, code_file), given);
    line.text("path='").info_escaped(realpath(given, path) != nullptr ? path : given);
    line.text("' function='").info_escaped(text_of(pointer(code, code_name), name));
    line.text("' line=").number(python_interpreter().line_of(code, instruction));
}

int find_python_frames(PythonFrame* frames, int most)
{
    const char* const thread = python_interpreter().is_known ? python_interpreter().own_thread() : nullptr;
    if (thread == nullptr || !is_as_expected(thread))
        return 0;
    int count = 0;
    const char* frame = innermost_frame(thread);
    for (; frame != nullptr && count < most; frame = pointer(frame, frame_previous)) {
        const char* const code = unmarked(pointer(frame, frame_code));
        if (read<unsigned char>(frame, frame_owner) >= first_foreign_owner || !is_code(code))
            continue;
        const auto instruction = pointer(frame, frame_instruction) - (code + place_of(code_instructions));
        if (instruction >= 0 && !is_in_between(code)) // a function that has not begun yet calls nothing
            frames[count++] = {code, static_cast<int>(instruction)};
    }
    return count;
}

} // namespace hdtrace::mpi
