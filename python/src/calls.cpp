// The calls of a project. They are read in steps, between which Python may stop it.
#include <algorithm>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "hdtrace/analysis/call_columns.h"
#include "hdtrace/analysis/call_text.h"
#include "hdtrace/analysis/counter_columns.h"
#include "hdtrace/analysis/mark_columns.h"
#include "hdtrace/tools/printable.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/shared_types.h"
#include "python/src/tables.h"
#include "python/src/unlocked.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

class CallReader {
  public:
    /// Only read() asks for regions. @p last: how many calls of each thread, its last ones; 0 is all of them.
    CallReader(ProjectPointer project, Selection selection, bool regions, std::size_t last)
        : m_project(std::move(project)), m_wanted(selection), m_has_regions(regions), m_last(last),
          m_states(m_project->existing_traces(),
                   regions ? with_regions(m_project->project, std::move(selection)) : std::move(selection))
    {
    }

    /// Reads so many states on, if only the last ones are wanted. False once these are known: they are handed
    /// out then. Of a broken trace these are the last ones before that place.
    bool look_ahead(std::size_t states)
    {
        const Unlocked unlocked;
        for (; m_last > 0 && states > 0; --states) {
            Found found;
            try {
                found = next_in_traces();
            } catch (const ReadError&) {
                m_last_problem = m_last_problem ? m_last_problem : std::current_exception();
                continue;
            }
            if (!found.state) {
                sort_last_calls();
                return false;
            }
            keep(found);
        }
        return m_last > 0;
    }

    // The next calls; none at the end. An error is reported by the call after the one with the last good
    // state.
    std::vector<OwnedState> read(std::size_t states)
    {
        const Unlocked unlocked;
        std::vector<OwnedState> calls;
        for_each(states, calls, [&](Found& found) {
            calls.push_back({std::move(*found.state), found.trace->rank, found.trace->thread, m_project,
                             std::move(found.region)});
        });
        return calls;
    }

    py::str read_xml(std::size_t states)
    {
        return read_text(states, [](const Found& found) { return xml_line(*found.trace, *found.state); });
    }

    py::str read_lines(std::size_t states, std::int64_t origin)
    {
        return read_text(states, [&](const Found& found) {
            return tools::printable_lines(text_lines(*m_project, *found.trace, *found.state, origin));
        });
    }

    std::vector<MissingEnd> missing() const { return m_states.missing(); }

  private:
    /// A call, or nothing.
    struct Found {
        State* state = nullptr;
        const TraceFile* trace = nullptr;
        std::string region; ///< if regions are asked for
    };
    struct Kept {
        State state;
        const TraceFile* trace = nullptr; ///< that of its LastCalls
        std::string region;
    };
    struct LastCalls {
        TraceFile trace;
        std::deque<Kept> calls;
    };

    Found next_in_traces()
    {
        while (State* const state = m_states.next()) {
            const TraceFile& trace = m_states.trace();
            if (!m_has_regions)
                return {state, &trace, {}};
            Found found = {state, &trace, m_regions.paths().text(m_regions.path(trace))};
            m_regions.follow(trace, *state);
            if (m_wanted.wants(*state))
                return found;
        }
        return {};
    }

    // The stream uses the memory of the call that is dropped for that.
    void keep(Found& found)
    {
        const std::pair thread(found.trace->rank, found.trace->thread);
        auto last = m_last_of.find(thread);
        if (last == m_last_of.end())
            last = m_last_of.emplace(thread, LastCalls{*found.trace, {}}).first;
        std::deque<Kept>& calls = last->second.calls;
        Kept kept;
        if (calls.size() == m_last) {
            kept = std::move(calls.front());
            calls.pop_front();
        }
        std::swap(kept.state, *found.state);
        kept.trace = &last->second.trace;
        kept.region = std::move(found.region);
        calls.push_back(std::move(kept));
    }

    void sort_last_calls()
    {
        for (auto& [thread, last] : m_last_of) {
            std::ranges::move(last.calls, std::back_inserter(m_kept));
            last.calls.clear();
        }
        std::ranges::stable_sort(m_kept, {}, [](const Kept& kept) { return kept.state.time; });
    }

    Found next()
    {
        if (m_last == 0)
            return next_in_traces();
        if (m_taken < m_kept.size()) {
            Kept& kept = m_kept[m_taken++];
            return {&kept.state, kept.trace, std::move(kept.region)};
        }
        if (const auto problem = std::exchange(m_last_problem, nullptr))
            std::rethrow_exception(problem);
        return {};
    }

    template <class Result, class Take> void for_each(std::size_t states, const Result& result, Take take)
    {
        if (const auto problem = std::exchange(m_problem, nullptr))
            std::rethrow_exception(problem);
        try {
            for (; states > 0; --states) {
                Found found = next();
                if (!found.state)
                    return;
                take(found);
            }
        } catch (const ReadError&) {
            if (result.empty())
                throw;
            m_problem = std::current_exception();
        }
    }

    template <class ToText> py::str read_text(std::size_t states, ToText to_text)
    {
        std::string text;
        {
            const Unlocked unlocked;
            for_each(states, text, [&](const Found& found) { text += to_text(found); });
        }
        return py::str(text);
    }

    ProjectPointer m_project;
    Selection m_wanted;
    bool m_has_regions = false;
    std::size_t m_last = 0;
    MergedTraces m_states;
    OpenRegions m_regions;
    std::map<std::pair<std::int64_t, std::int64_t>, LastCalls> m_last_of; ///< by rank and thread
    std::vector<Kept> m_kept;          ///< the last ones, once they are known
    std::size_t m_taken = 0;           ///< of them
    std::exception_ptr m_last_problem; ///< is thrown behind them
    std::exception_ptr m_problem;      ///< is thrown next
};

CallClass class_named(const std::string& name)
{
    if (const auto found = find_class(name))
        return *found;
    throw py::value_error("there is no class of calls named " + name);
}

Selection make_selection(std::vector<std::int64_t> ranks, std::vector<std::int64_t> threads,
                         std::vector<std::string> names, const std::vector<std::string>& classes,
                         std::optional<std::int64_t> begin, std::optional<std::int64_t> end, bool unfinished)
{
    Selection selection;
    selection.ranks = std::move(ranks);
    selection.threads = std::move(threads);
    selection.calls = std::move(names);
    for (const std::string& name : classes)
        selection.classes.push_back(class_named(name));
    selection.interval.begin = begin.value_or(selection.interval.begin);
    selection.interval.end = end.value_or(selection.interval.end);
    selection.unfinished = unfinished;
    return selection;
}

} // namespace

void bind_calls(py::module_& module)
{
    py::class_<Selection>(module, "Selection")
        .def(py::init(&make_selection), py::arg("ranks"), py::arg("threads"), py::arg("names"),
             py::arg("classes"), py::arg("begin"), py::arg("end"), py::arg("unfinished"));
    py::class_<OwnedState, State>(module, "Call")
        .def_readonly("rank", &OwnedState::rank)
        .def_readonly("thread", &OwnedState::thread)
        .def_property_readonly("call_class",
                               [](const OwnedState& call) { return class_name(class_of(call.name)); })
        .def_property_readonly("region", [](const OwnedState& call) { return file_text(call.region); })
        .def_property_readonly("is_unfinished", [](const OwnedState& call) { return call.is_unfinished(); })
        .def_property_readonly("site",
                               [](const OwnedState& call) {
                                   return shared_site(call.project,
                                                      call.project->objects.call_site(call.rank, call));
                               })
        .def(
            "integer", [](const OwnedState& call, const std::string& name) { return call.integer(name); },
            py::arg("name"))
        .def("__repr__", [](const OwnedState& call) {
            return "<" + call.name + " of rank " + std::to_string(call.rank) + ", thread " +
                   std::to_string(call.thread) + ">";
        });
    py::class_<CallReader>(module, "CallReader")
        .def(py::init<ProjectPointer, Selection, bool, std::size_t>(), py::arg("project"),
             py::arg("selection"), py::arg("regions") = false, py::arg("last") = 0,
             py::call_guard<Unlocked>())
        .def("look_ahead", &CallReader::look_ahead, py::arg("states"))
        .def("read", &CallReader::read, py::arg("states"))
        .def("read_xml", &CallReader::read_xml, py::arg("states"))
        .def("read_lines", &CallReader::read_lines, py::arg("states"), py::arg("origin"))
        .def_property_readonly("missing",
                               [](const CallReader& reader) { return missing_texts(reader.missing()); });
    bind_table<CallTable>(module, "CallTable")
        .def(py::init<ProjectPointer, Selection>(), py::arg("project"), py::arg("selection"),
             py::call_guard<Unlocked>());
    bind_table<MarkTable>(module, "MarkTable")
        .def(py::init<ProjectPointer, Selection>(), py::arg("project"), py::arg("selection"),
             py::call_guard<Unlocked>());
    bind_table<CounterTable>(module, "CounterTable")
        .def(py::init<ProjectPointer, Selection>(), py::arg("project"), py::arg("selection"),
             py::call_guard<Unlocked>());
    constexpr std::size_t class_count = static_cast<std::size_t>(CallClass::other) + 1;
    module.def(
        "is_call", [](std::string_view name) { return find_call(name) != nullptr; }, py::arg("name"));
    module.def(
        "names_object", [](const std::string& attribute) { return find_reference(attribute).has_value(); },
        py::arg("attribute"));
    module.def(
        "names_ranks",
        [](const std::string& call, const std::string& attribute) {
            const auto attributes = rank_attributes_of(call);
            return std::ranges::find(attributes, attribute) != attributes.end();
        },
        py::arg("call"), py::arg("attribute"));
    module.def("all_calls", [] {
        std::vector<std::string_view> names;
        std::ranges::transform(all_calls(), std::back_inserter(names), &CallFacts::name);
        return names;
    });
    module.attr("CALL_CLASSES") = names_of<CallClass, class_count>(class_name);
}

} // namespace hdtrace
