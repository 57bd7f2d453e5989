// Why programs take the time that they take.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <malloc.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "hdtrace/explaining/causes.h"
#include "hdtrace/explaining/clocks.h"
#include "hdtrace/explaining/critical_path.h"
#include "hdtrace/explaining/efficiencies.h"
#include "hdtrace/explaining/history_reader.h"
#include "hdtrace/explaining/phases.h"
#include "hdtrace/explaining/time_use.h"
#include "hdtrace/explaining/wait_states.h"
#include "hdtrace/report/timeline.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/shared_types.h"
#include "python/src/unlocked.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

double seconds(std::int64_t nanoseconds)
{
    return static_cast<double>(nanoseconds) / 1e9;
}

/// Of what was freed: what comes next allocates in larger pieces, which do not fit into the gaps.
void give_back_memory()
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/// All that is computed from a history, once it is whole.
struct Explained {
    /// Several things at a time, but not those that need most memory.
    explicit Explained(const History& history)
        : begin(history.begin()), end(history.end()), waits(find_wait_states(history)), use(history, waits)
    {
        auto finding_phases = std::async(std::launch::async, [&] { return find_phases(history); });
        auto finding_causes = std::async(std::launch::async, [&] { return find_causes(history, waits); });
        path = find_critical_path(history, waits);
        on_path = profile_of(path, history, waits);
        causes = finding_causes.get();
        give_back_memory();
        efficiencies = Efficiencies(history, waits);
        phases = finding_phases.get();
    }

    std::int64_t begin, end; ///< of the history, which take long to find out
    std::vector<WaitState> waits;
    TimeUse use;
    std::vector<PathPart> path;
    std::vector<PathActivity> on_path;
    Efficiencies efficiencies;
    std::vector<Cause> causes;
    std::vector<Phase> phases;
};

/// Reads a project and explains it. Answers are dictionaries with the names of docs/analyze.md; all times are
/// seconds.
class Explanation {
  public:
    Explanation(ProjectPointer project, std::optional<std::int64_t> begin, std::optional<std::int64_t> end)
        : m_reader(std::move(project),
                   {begin.value_or(TimeInterval().begin), end.value_or(TimeInterval().end)})
    {
    }

    bool read(std::size_t states)
    {
        const Unlocked unlocked;
        if (m_reader.read(states))
            return true;
        give_back_memory();
        m_explained = std::make_unique<Explained>(history());
        return false;
    }

    double run_seconds() const { return seconds(explained().end - explained().begin); }
    py::list missing() const { return missing_texts(m_reader.missing()); }
    std::size_t unfinished() const { return m_reader.unfinished(); }

    py::list activities() const
    {
        py::list rows;
        for (const Spread& spread : explained().use.spreads())
            rows.append(row("activity", spread.what, "seconds", seconds(spread.total), "minimum",
                            seconds(spread.minimum), "mean", spread.mean / 1e9, "maximum",
                            seconds(spread.maximum), "minimum_rank", spread.minimum_rank, "maximum_rank",
                            spread.maximum_rank));
        return rows;
    }

    py::list use_of_ranks() const
    {
        py::list rows;
        for (const auto& [rank, use] : explained().use.by_rank)
            rows.append(with_use(row("rank", rank), use));
        return rows;
    }
    /// By the call and where it was called.
    py::list use_of_sites() const
    {
        return use_by(site_key, [this](const Place& place) {
            return row("call", call_of(place), "site", site_of(place));
        });
    }
    /// Of the first so many rows of use_of_sites(): a list for each rank with the number of such a row, and
    /// seconds of computation, in MPI, waiting, and calls, where there are any.
    py::dict use_of_sites_by_rank(std::size_t most) const
    {
        std::vector<Group> groups = grouped(site_key);
        groups.resize(std::min(groups.size(), most));
        std::map<std::int64_t, std::vector<Use>> by_rank;
        for (std::uint32_t i = 0; i < history().timelines.size(); ++i) {
            const std::vector<Use> at_place = use_of_timeline(history(), explained().waits, i);
            std::vector<Use>& uses = by_rank[history().timelines[i].rank];
            uses.resize(groups.size());
            for (std::size_t group = 0; group < groups.size(); ++group)
                for (const std::size_t place : groups[group].places)
                    uses[group] += at_place[place];
        }
        py::dict ranks;
        for (const auto& [rank, uses] : by_rank) {
            py::list rows;
            for (std::size_t i = 0; i < uses.size(); ++i)
                if (const Use& use = uses[i]; use.calls > 0 || use.total() > 0)
                    rows.append(py::make_tuple(i, seconds(use.computation), seconds(use.in_calls),
                                               seconds(use.waiting), use.calls));
            ranks[py::int_(rank)] = rows;
        }
        return ranks;
    }
    py::list use_of_regions() const
    {
        return use_by(
            [](const Place& place) { return place.region; },
            [this](const Place& place) { return row("region", file_text(history().regions[place.region])); });
    }
    /// By all that is around: the region, the call and where it was called.
    py::list use_of_stacks() const
    {
        return use_by([](const Place& place) { return std::tuple(place.region, place.call, place.site); },
                      [this](const Place& place) {
                          return row("region", file_text(history().regions[place.region]), "call",
                                     call_of(place), "site", site_of(place));
                      });
    }
    py::list use_of_communicators() const
    {
        return use_by([](const Place& place) { return place.communicator; },
                      [this](const Place& place) { return row("communicator", communicator_of(place)); });
    }

    py::list wait_states() const
    {
        py::list rows;
        for (const WaitSum& sum : sum_up(history(), explained().waits)) {
            py::dict one = row("kind", facts_of(sum.kind).name, "seconds", seconds(sum.time), "count",
                               sum.count, "rank", sum.rank);
            add_place(one, history().places[sum.place]);
            one["cause"] = py::none();
            if (sum.has_cause) {
                py::dict cause = row("rank", sum.cause_rank);
                add_place(cause, history().places[sum.cause_place]);
                one["cause"] = cause;
            }
            rows.append(one);
        }
        return rows;
    }

    py::dict critical_path() const
    {
        std::int64_t length = 0;
        std::map<std::int64_t, std::int64_t> of_ranks;
        for (const PathPart& part : explained().path) {
            length += part.end - part.begin;
            of_ranks[history().timelines[part.timeline].rank] += part.end - part.begin;
        }
        py::list profile, ranks;
        for (const PathActivity& on_path : explained().on_path)
            profile.append(with_activity(row("seconds", seconds(on_path.time), "mean", on_path.mean / 1e9,
                                             "imbalance", on_path.imbalance() / 1e9, "rank", on_path.rank),
                                         on_path.activity));
        for (const auto& [rank, time] : of_ranks)
            ranks.append(row("rank", rank, "seconds", seconds(time)));
        return row("seconds", seconds(length), "profile", profile, "ranks", ranks);
    }

    py::dict efficiencies() const
    {
        const Efficiencies& all = explained().efficiencies;
        return row("parallel", all.parallel(), "load_balance", all.load_balance(), "communication",
                   all.communication(), "serialisation", all.serialisation(), "transfer", all.transfer(),
                   "io", all.input_output(), "processes", all.processes, "seconds", seconds(all.time),
                   "ideal_seconds", seconds(all.ideal_time), "computation", all.mean_computation / 1e9,
                   "most_computation", seconds(all.most_computation));
    }

    /// What is repeated; times are since the first call.
    py::list phases() const
    {
        py::list rows;
        for (const Phase& phase : explained().phases) {
            py::list calls, outliers, begins, times;
            for (const std::uint32_t place : phase.places) {
                py::dict one;
                add_place(one, history().places[place]);
                calls.append(one);
            }
            for (const Phase::Iteration& iteration : phase.iterations) {
                begins.append(since_begin(iteration.begin));
                times.append(iteration.time / 1e9);
            }
            for (const Outlier& outlier : phase.outliers)
                outliers.append(row("iteration", outlier.iteration + 1, "begin",
                                    since_begin(phase.iterations[outlier.iteration].begin), "seconds",
                                    phase.iterations[outlier.iteration].time / 1e9, "excess",
                                    outlier.excess / 1e9, "rank", outlier.rank, "computation_excess",
                                    outlier.computation_excess / 1e9));
            py::object drift = py::none();
            if (phase.drift)
                drift = row("first", phase.drift->first / 1e9, "last", phase.drift->last / 1e9);
            const auto [shortest, longest] =
                std::ranges::minmax(phase.iterations, {}, &Phase::Iteration::time);
            rows.append(row("iterations", phase.iterations.size(), "begin", since_begin(phase.begin), "end",
                            since_begin(phase.end), "typical", phase.typical / 1e9, "shortest",
                            shortest.time / 1e9, "longest", longest.time / 1e9, "outliers", outliers, "drift",
                            drift, "calls", calls, "begins", begins, "times", times));
        }
        return rows;
    }

    /// What is done with each file at each site.
    py::list file_uses() const
    {
        py::list rows;
        for (const FileUse* use : m_reader.file_uses().uses()) {
            const CallFacts& call = *use->call;
            const char* const access = call.file == FileAccess::read    ? "read"
                                       : call.file == FileAccess::write ? "write"
                                                                        : "other";
            rows.append(row("file", file_text(project().file_labels[use->file]), "call", call.name, "site",
                            site_of(Place{.call = &call, .site = use->site}), "access", access, "collective",
                            call.members == CollectiveMembers::file || call.makes == ObjectKind::file,
                            "opens", call.makes == ObjectKind::file, "processes", use->ranks.size(), "ranks",
                            std::vector(use->ranks.begin(), use->ranks.end()), "calls", use->calls, "seconds",
                            seconds(use->time), "accesses", use->accesses, "bytes", use->bytes, "small",
                            use->small, "large", use->large, "unaligned", use->unaligned, "placed",
                            use->placed, "strided", use->strided, "consecutive", use->consecutive,
                            "read_back_bytes", use->read_back_bytes));
        }
        return rows;
    }
    /// When files are accessed; since the first call.
    py::list file_phases() const
    {
        py::list rows;
        const std::int64_t start = explained().begin;
        const std::vector<std::string>& labels = project().file_labels;
        for (std::size_t file = 0; file < labels.size(); ++file)
            for (const FilePhase& phase : m_reader.file_uses().phases(static_cast<std::int32_t>(file)))
                rows.append(row("file", file_text(labels[file]), "begin", seconds(phase.begin - start), "end",
                                seconds(phase.end - start), "busy", seconds(phase.busy), "read_bytes",
                                phase.read_bytes, "written_bytes", phase.written_bytes));
        return rows;
    }

    py::list clocks() const { return clock_rows(project()); }
    std::int64_t reversed_messages() const { return count_reversed(history()); }

    /// All of it over time.
    std::unique_ptr<report::TimelineReader, UnlockedDelete> timeline() const
    {
        const Explained& all = explained();
        return {new report::TimelineReader(m_reader.project(), history(), all.waits, all.path), {}};
    }

    py::list causes() const
    {
        py::list rows;
        for (const Cause& cause : explained().causes)
            rows.append(with_activity(row("seconds", cause.cost() / 1e9, "direct", cause.direct / 1e9,
                                          "propagated", cause.propagated / 1e9, "rank", cause.rank,
                                          "waiting_ranks", cause.waiting_ranks),
                                      cause.activity));
        return rows;
    }

  private:
    const History& history() const { return m_reader.history(); }
    double since_begin(std::int64_t time) const { return seconds(time - explained().begin); }
    const Explained& explained() const
    {
        if (!m_explained)
            throw py::value_error("not everything was read");
        return *m_explained;
    }
    const OpenedProject& project() const { return *m_reader.project(); }

    static void set(py::dict&) {}
    template <class Value, class... Rest>
    static void set(py::dict& row, const char* name, const Value& value, const Rest&... rest)
    {
        row[name] = value;
        set(row, rest...);
    }
    template <class... Items> static py::dict row(const Items&... items)
    {
        py::dict row;
        set(row, items...);
        return row;
    }

    static py::dict with_use(py::dict row, const Use& use)
    {
        set(row, "seconds", seconds(use.total()), "computation", seconds(use.computation), "mpi",
            seconds(use.in_calls), "waiting", seconds(use.waiting), "calls", use.calls);
        py::dict classes;
        for (std::size_t i = 0; i < call_class_count; ++i)
            if (use.in_class[i] > 0)
                classes[py::cast(class_name(static_cast<CallClass>(i)))] = seconds(use.in_class[i]);
        row["classes"] = classes;
        return row;
    }

    static std::pair<const CallFacts*, std::int32_t> site_key(const Place& place)
    {
        return {place.call, place.site};
    }
    /// Places that are told as one.
    struct Group {
        std::vector<std::size_t> places; ///< numbers in the history
        Use use;
    };

    /// The largest sums first.
    std::vector<Group> grouped(const auto& key_of) const
    {
        std::map<std::invoke_result_t<decltype(key_of), const Place&>, Group> groups;
        const auto& places = history().places;
        for (std::size_t i = 0; i < places.size(); ++i) {
            Group& group = groups[key_of(places[i])];
            group.places.push_back(i);
            group.use += explained().use.by_place[i];
        }
        std::vector<Group> sorted;
        sorted.reserve(groups.size());
        for (auto& [key, group] : groups)
            sorted.push_back(std::move(group));
        std::ranges::stable_sort(sorted, std::ranges::greater(),
                                 [](const Group& group) { return group.use.total(); });
        return sorted;
    }

    py::list use_by(const auto& key_of, const auto& row_of) const
    {
        py::list rows;
        for (const Group& group : grouped(key_of))
            rows.append(with_use(row_of(history().places[group.places.front()]), group.use));
        return rows;
    }

    static py::object call_of(const Place& place)
    {
        return place.call ? py::object(py::cast(place.call->name)) : py::none();
    }
    py::object site_of(const Place& place) const
    {
        if (place.site < 0)
            return py::none();
        return py::cast(shared_site(m_reader.project(), &project().project.call_sites[place.site]));
    }
    py::object communicator_of(const Place& place) const
    {
        if (place.communicator < 0)
            return py::none();
        return file_text(project().communicator_labels[place.communicator]);
    }
    void add_place(py::dict& row, const Place& place) const
    {
        set(row, "call", call_of(place), "site", site_of(place), "communicator", communicator_of(place),
            "region", file_text(history().regions[place.region]), "left", region_left(place));
    }
    py::object region_left(const Place& place) const
    {
        return place.left < 0 ? py::object(py::none()) : py::object(file_text(history().regions[place.left]));
    }

    /// Computation is from the call of the row `until` another one; nothing where there is no call.
    py::dict with_activity(py::dict row, Activity activity) const
    {
        const auto& places = history().places;
        const bool has_place = activity.place != Activity::none, has_next = activity.next != Activity::none;
        set(row, "activity", activity.is_computation() ? "computation" : "call");
        add_place(row, has_place ? places[activity.place] : Place());
        row["until"] = py::none();
        if (has_next) {
            py::dict until;
            add_place(until, places[activity.next]);
            row["until"] = until;
        }
        return row;
    }

    HistoryReader m_reader;
    std::unique_ptr<Explained> m_explained;
};

} // namespace

void bind_explanations(py::module_& module)
{
    py::class_<Explanation, std::unique_ptr<Explanation, UnlockedDelete>>(module, "Explanation")
        .def(py::init<ProjectPointer, std::optional<std::int64_t>, std::optional<std::int64_t>>(),
             py::arg("project"), py::arg("begin"), py::arg("end"), py::call_guard<Unlocked>())
        .def("read", &Explanation::read, py::arg("states"))
        .def_property_readonly("seconds", &Explanation::run_seconds)
        .def_property_readonly("missing", &Explanation::missing)
        .def_property_readonly("unfinished", &Explanation::unfinished)
        .def("activities", &Explanation::activities)
        .def("use_of_ranks", &Explanation::use_of_ranks)
        .def("use_of_sites", &Explanation::use_of_sites)
        .def("use_of_regions", &Explanation::use_of_regions)
        .def("use_of_sites_by_rank", &Explanation::use_of_sites_by_rank, py::arg("most"))
        .def("use_of_stacks", &Explanation::use_of_stacks)
        .def("use_of_communicators", &Explanation::use_of_communicators)
        .def("wait_states", &Explanation::wait_states)
        .def("critical_path", &Explanation::critical_path)
        .def("efficiencies", &Explanation::efficiencies)
        .def("causes", &Explanation::causes)
        .def("timeline", &Explanation::timeline, py::keep_alive<0, 1>(), py::call_guard<Unlocked>())
        .def("file_uses", &Explanation::file_uses)
        .def("file_phases", &Explanation::file_phases)
        .def("phases", &Explanation::phases)
        .def("clocks", &Explanation::clocks)
        .def("reversed_messages", &Explanation::reversed_messages);
}

} // namespace hdtrace
