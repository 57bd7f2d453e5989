// call_site.h - where in the program a call was made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hdtrace {

/// A program or a library.
struct ObjectFile {
    std::string path;
    std::string build_id; ///< hexadecimal; empty if it has none
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
