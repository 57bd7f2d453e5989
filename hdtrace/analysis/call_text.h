// call_text.h - calls as lines of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hdtrace/analysis/opened_project.h"

namespace hdtrace {

/// One line with a state and what is nested in it, as in a trace with timeAdjustment='0', and whose it is.
std::string xml_line(const TraceFile& trace, const State& state);

/// The same as in a trace with that timeAdjustment, here in nanoseconds.
std::string trace_line(const State& state, std::int64_t time_adjustment);

/// "<Program version='1'>"
std::string opening_tag(const Element& element);

/// What a state of a process is and has, for people: its name, its attributes but for those that say where
/// and how it ended, with the names of objects, and its first child elements,
/// "Waitall count=9 (Pending rid=0) (Pending rid=1) and 7 more".
std::string call_words(const OpenedProject& project, std::int64_t rank, const State& state);

/// Whether an attribute of a call is for checks only: addresses, and what they measure. In nearly every call
/// it has another value.
bool is_for_checks(std::string_view attribute);

/// What people call the object that an attribute of a call of a process names by a number: "WORLD" for cid
/// 0; empty if it names none, or none that is known.
std::string object_label(const OpenedProject& project, std::int64_t rank, std::string_view attribute,
                         std::int64_t number);

/// What the program called that ended what @p started began: the end of a split access is a Wait in traces.
std::string name_of_end(const std::string& started, const State& end);

/// " at main (main.c:7)"; nothing if it is not known.
std::string at(const CallSite* site);

/// A line for people, with the time in seconds after @p origin, how long it took, whose it is, the names of
/// the objects that it was given, and where it was called; what is nested in it on lines before it, indented.
std::string text_lines(const OpenedProject& project, const TraceFile& trace, const State& state,
                       std::int64_t origin);

} // namespace hdtrace
