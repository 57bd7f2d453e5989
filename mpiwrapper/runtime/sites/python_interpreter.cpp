#include "mpiwrapper/runtime/sites/python_interpreter.h"

#include "mpiwrapper/runtime/library/find_once.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

namespace hdtrace::mpi {

namespace {

constexpr int absent = -1;

// In bytes from the object's beginning.
constexpr PythonLayout layouts[] = {
    {0x030b, {56, 8, 32, 48, 56, 69, 72, 112, 120, 136, 184, 8, 16, 32, 48, 80}},
    {0x030c, {56, 0, 0, 8, 56, 70, 68, 112, 120, 136, 192, 8, 16, 32, 40, 64}},
};

// Later ones tell it in the table that _PyRuntime begins with: these are words of it.
constexpr PythonLayout tables_of_offsets[] = {
    {0x030d, {23, absent, 30, 29, 31, 33, 39, 35, 36, 38, 43, 45, 69, 68, 70, 67}},
    {0x030e, {26, absent, 33, 32, 34, 36, 44, 40, 41, 43, 48, 51, 79, 78, 80, 77}},
};

// The first words of that table.
struct TableStart {
    char cookie[8];
    uint64_t version;
    uint64_t has_no_lock; // then code is copied for each thread
};

constexpr uint64_t most_bytes = 4096; // no object is larger up to the last member that is read

template <typename Value> void find(Value& value, const char* name)
{
    value = reinterpret_cast<Value>(dlsym(RTLD_DEFAULT, name));
}

template <size_t Count> const PythonLayout* layout_of(unsigned version, const PythonLayout (&all)[Count])
{
    for (const PythonLayout& layout : all)
        if (layout.version == version)
            return &layout;
    return nullptr;
}

bool read_table_of_offsets(PythonLayout& layout, const PythonLayout& words, const uint64_t* table)
{
    TableStart start;
    if (table == nullptr)
        return false;
    memcpy(&start, static_cast<const void*>(table), sizeof start);
    if (memcmp(start.cookie, "xdebugpy", sizeof start.cookie) != 0 || start.has_no_lock != 0 ||
        start.version >> 16 != words.version)
        return false;
    for (int i = 0; i < member_count; ++i) {
        const int word = words.place[i];
        if (word != absent && table[word] > most_bytes)
            return false;
        layout.place[i] = word == absent ? absent : static_cast<int>(table[word]);
    }
    return true;
}

bool find_layout(PythonLayout& layout, unsigned version)
{
    if (const PythonLayout* const known = layout_of(version, layouts)) {
        layout = *known;
        return true;
    }
    const PythonLayout* const words = layout_of(version, tables_of_offsets);
    const uint64_t* table = nullptr;
    find(table, "_PyRuntime");
    return words != nullptr && read_table_of_offsets(layout, *words, table);
}

PythonInterpreter find_interpreter()
{
    PythonInterpreter found;
    const unsigned long* version = nullptr;
    find(version, "Py_Version");
    find(found.code_type, "PyCode_Type");
    find(found.own_thread, "PyGILState_GetThisThreadState");
    find(found.line_of, "PyCode_Addr2Line");
    if (version == nullptr || found.code_type == nullptr || found.own_thread == nullptr ||
        found.line_of == nullptr)
        return found;
    found.is_known = find_layout(found.layout, static_cast<unsigned>(*version >> 16));
    return found;
}

} // namespace

const PythonInterpreter& python_interpreter()
{
    static PythonInterpreter interpreter;
    static bool is_known = false;
    find_once(interpreter, is_known, find_interpreter);
    return interpreter;
}

} // namespace hdtrace::mpi
