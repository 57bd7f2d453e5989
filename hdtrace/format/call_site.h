// call_site.h - where in the program a call was made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hdtrace {

/// Equal values one behind the other.
struct ValueRun {
    std::string kind;       ///< "integer", "floating point number", ...; "anything" is not known
    std::int64_t size = 0;  ///< of one, in bytes
    std::int64_t place = 0; ///< of the first one
    std::int64_t count = 0;

    bool operator==(const ValueRun&) const = default;
};

/// A variable that has a fixed place.
struct Variable {
    std::string name;
    std::int64_t place = 0; ///< of its first byte
    std::int64_t size = 0;  ///< in bytes
    std::string type;       ///< as the program declares it; empty if it is not known
    /// What it holds, or points to, again and again; nothing is between them. Empty if it is not known.
    std::vector<ValueRun> values;
    std::int64_t stride = 0; ///< from one time to the next, in bytes
    bool is_pointer = false;
};

/// A program or a library.
struct ObjectFile {
    std::string path;
    std::string build_id;            ///< hexadecimal; empty if it has none
    std::vector<Variable> variables; ///< which exist as long as it, by their places in it as it is linked
};

/// A function, and the line in it where the call is. What is not known is empty.
struct SourceFunction {
    std::string name;
    std::string file;
    std::optional<std::int64_t> line;
};

/// A return address, or a line of a Python program.
struct CodePlace {
    std::shared_ptr<const ObjectFile> object; ///< null in no object file
    /// In the object file as it is linked; without one the address itself. Nothing of a line of Python.
    std::optional<std::int64_t> offset;
    /// The innermost first: all but the last were put into the next one by the compiler. Empty if nothing is
    /// known about them.
    std::vector<SourceFunction> functions;
    /// Those of the last one, and of what was put into it there, by their places from the canonical address
    /// of its stack frame. They do not overlap, here and in object files; only projects of runs that were
    /// recorded to be checked have them.
    std::vector<Variable> variables;
};

struct CallSite {
    std::vector<std::shared_ptr<const CodePlace>> places; ///< from the call outwards; at least one

    /// The innermost one, which makes the call; null if it is not known.
    const SourceFunction* function() const;
};

/// Where the call is, for people: "solve (solver.cpp:42)", or what is known of it: "solve", "liba.so+0x1169".
std::string to_string(const CallSite& site);

/// The same with all that led there, from the call outwards: "solve (solver.cpp:42) < main (main.cpp:7)".
std::string stack_text(const CallSite& site);

} // namespace hdtrace
