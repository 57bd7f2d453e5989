#include "merger/process_info.h"

#include "hdtrace/format/errors.h"
#include "hdtrace/format/info.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/writing_process.h"
#include "merger/info_values.h"

#include <algorithm>
#include <new>
#include <set>

namespace hdtrace::merger {

namespace {

constexpr std::int64_t newest_version = 1;
constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
constexpr std::string_view combiner_prefix = "MPI_COMBINER_";

Side side_of(const InfoLine& line)
{
    const std::string side = line.text_or("side", "");
    return side == "first"    ? Side::first
           : side == "second" ? Side::second
           : side == "own"    ? Side::own
                              : Side::unknown;
}

Meeting meeting_of(const InfoLine& line)
{
    using enum Meeting::Kind;
    for (const auto& [key, kind] :
         {std::pair("accepts", accepts), std::pair("connects", connects), std::pair("meets", leaders)}) {
        if (const std::string* where = line.find(key))
            return {kind, *where};
    }
    return {};
}

/// Reads the lines of one file into the records of a process.
class InfoLoader {
  public:
    InfoLoader(std::string_view path, ProcessInfo& info, Report& report)
        : m_path(path), m_info(info), m_report(report), m_run(info.run)
    {
    }

    void load()
    {
        InfoReader reader{std::string(m_path)};
        InfoLine line;
        while (reader.next(line))
            load_line(line);
        m_info.run.checksum = joined_checksums(m_info.run.checksum, reader.checksum());
        if (const auto place = detail::place_of(reader.path()); place.node_file_size > 0)
            m_run.note_node_file(place.node_file_size);
        if (m_unknown_count > 0)
            warn_of_unknown_lines();
        if (reader.truncated_line() > 0)
            m_report.warn(Topic::cut_off_lines, {m_path, reader.truncated_line()},
                          "the last line is cut off and ignored: the process may have been killed");
        warn_of_sudden_end();
        if (m_lost_lines > 0)
            warn_of_lost_lines();
        apply_names();
    }

  private:
    struct Name {
        Place place;
        std::string name;
    };
    using Names = std::map<std::int64_t, Name>;

    Place place(const InfoLine& line) const { return {m_path, line.number()}; }

    void load_line(const InfoLine& line)
    {
        try {
            load_objects(line);
        } catch (const std::bad_alloc&) {
            throw ReadError(std::string(m_path), static_cast<std::int64_t>(line.number()), 0,
                            "there is not enough memory for what this line describes");
        }
    }

    void load_objects(const InfoLine& line)
    {
        using Load = void (InfoLoader::*)(const InfoLine&);
        static constexpr std::pair<std::string_view, Load> kinds[] = {
            {"Process", &InfoLoader::load_process},    {"Thread", &InfoLoader::load_thread},
            {"File", &InfoLoader::load_file},          {"Comm", &InfoLoader::load_communicator},
            {"CommName", &InfoLoader::load_comm_name}, {"Type", &InfoLoader::load_type},
            {"TypeName", &InfoLoader::load_type_name}, {"Win", &InfoLoader::load_window},
            {"WinName", &InfoLoader::load_win_name},   {"Object", &InfoLoader::load_object_file},
            {"Source", &InfoLoader::load_source_line}, {"Site", &InfoLoader::load_call_site},
            {"Group", &InfoLoader::leave_to_readers},  {"End", &InfoLoader::load_end},
            {"Lost", &InfoLoader::load_lost},
        };
        const auto* kind = std::ranges::find(kinds, line.kind(), &std::pair<std::string_view, Load>::first);
        if (kind != std::end(kinds))
            (this->*kind->second)(line);
        if (!m_run.load(line) && kind == std::end(kinds))
            note_unknown(line);
    }

    // What projects do not tell.
    void leave_to_readers(const InfoLine&) {}

    void note_unknown(const InfoLine& line)
    {
        if (m_unknown_count++ > 0)
            return;
        m_unknown_line = line.number();
        m_unknown_kind = line.kind().substr(0, 40);
    }

    void warn_of_unknown_lines()
    {
        std::string text = "unknown line '" + m_unknown_kind + "' ignored";
        if (m_unknown_count > 1)
            text += " (and " + std::to_string(m_unknown_count - 1) + " more unknown lines in this file)";
        m_report.warn(Topic::unknown_lines, {m_path, m_unknown_line}, text);
    }

    void load_process(const InfoLine& line)
    {
        if (line.optional_integer("version").value_or(newest_version) > newest_version)
            line.fail("version", "written by a newer version of hdtrace: merge it with that version");
        ProcessLine process;
        process.place = place(line);
        process.base = line.text("base");
        process.host = line.text_or("host", "");
        process.rank = line.optional_integer("rank");
        process.size = line.optional_integer("size");
        process.world = line.text_or("world", "");
        process.run = line.text_or("run", "");
        if (line.has("levels"))
            process.levels = {split_list(line.text("levels")), false};
        if (process.size && (*process.size < 1 || *process.size > process_limit))
            line.fail("size", "a program has 1 to " + std::to_string(process_limit) + " processes");
        if (process.levels.names.empty())
            line.fail("levels", "there must be at least one level");
        if (__builtin_mul_overflow(line.optional_integer("timeAdjustment").value_or(0),
                                   nanoseconds_per_second, &process.time_adjustment))
            line.fail("timeAdjustment", "timeAdjustment is too large");
        if (m_process_line > 0)
            line.fail("base", "there is a Process line already, line " + std::to_string(m_process_line));
        m_process_line = line.number();
        m_tells_its_end = line.has("pid");
        m_process = process;
        if (!m_info.process)
            m_info.process = process;
    }

    void load_thread(const InfoLine& line) { m_info.threads.push_back(line.integer("number")); }

    void load_file(const InfoLine& line)
    {
        FileRecord file;
        file.place = place(line);
        file.name = line.text("name");
        if (line.has("Size"))                                            // not in traces of other tools
            file.size = std::max<std::int64_t>(line.integer("Size"), 0); // old tracers overflowed
        if (const auto time = line.optional_nanoseconds("time")) {
            std::int64_t absolute = 0;
            if (__builtin_add_overflow(*time, m_process.time_adjustment, &absolute))
                line.fail("time", "the time is too large");
            file.time = absolute;
        }
        const std::string host = line.text_or("host", m_process.host);
        if (line.text_or("local", "0") == "1")
            file.host = host;
        if (line.has("device") && line.has("inode"))
            file.inode = host + ":" + line.text("device") + ":" + line.text("inode") + ":" +
                         line.text_or("birth", "") + ":" + line.text_or("handle", "");
        const std::int64_t id = object_id(line);
        const auto [known, is_new] = m_info.files.try_emplace(id, file);
        if (!is_new && known->second.name != file.name)
            fail_described_twice(line, "file", id, known->second.place);
    }

    void load_communicator(const InfoLine& line)
    {
        CommunicatorRecord communicator;
        communicator.place = place(line);
        communicator.map = rank_map(line, "map");
        communicator.is_inter = line.has("remote");
        communicator.remote = rank_map(line, "remote");
        communicator.side = side_of(line);
        communicator.meeting = meeting_of(line);
        communicator.name = line.text_or("name", "");
        communicator.uid = line.text_or("uid", "");
        const bool has_uids = !communicator.uid.empty() && !m_process.world.empty();
        communicator.is_world = has_uids ? communicator.uid == m_process.world : communicator.name == "WORLD";
        if (communicator.map.empty())
            line.fail("map", "a Comm line needs a map");
        const std::int64_t id = object_id(line);
        const auto [known, is_new] = m_info.communicators.try_emplace(id, communicator);
        if (is_new)
            m_info.communicator_order.push_back(id);
        else if (known->second.map != communicator.map || known->second.remote != communicator.remote ||
                 known->second.is_inter != communicator.is_inter || known->second.uid != communicator.uid)
            fail_described_twice(line, "communicator", id, known->second.place);
    }

    void load_window(const InfoLine& line)
    {
        WindowRecord window;
        window.place = place(line);
        window.uid = line.text_or("uid", "");
        window.communicator = line.integer("cid");
        window.size = line.natural("size");
        window.displacement_unit = line.natural("dispUnit");
        if (is_without_part(m_info.communicators.contains(window.communicator)))
            return;
        const std::int64_t id = object_id(line);
        const auto [known, is_new] = m_info.windows.try_emplace(id, window);
        if (!is_new &&
            (known->second.uid != window.uid || known->second.communicator != window.communicator ||
             known->second.size != window.size ||
             known->second.displacement_unit != window.displacement_unit))
            fail_described_twice(line, "window", id, known->second.place);
    }

    void load_type(const InfoLine& line)
    {
        DescribedDatatype datatype;
        datatype.id = object_id(line);
        datatype.combiner = line.text("combiner");
        if (datatype.combiner.starts_with(combiner_prefix))
            datatype.combiner.erase(0, combiner_prefix.size());
        check_value(line, "combiner", datatype.combiner);
        if (datatype.combiner.front() < 'A')
            line.fail("combiner", "'" + datatype.combiner + "' is not the name of a combiner");
        if (!has_element(datatype.combiner)) {
            m_report.warn(Topic::unknown_combiners, place(line),
                          "the combiner " + datatype.combiner + " is not known: it is written as UNKNOWN");
            datatype.combiner = unknown_combiner;
        }
        datatype.name = line.text_or("name", "");
        const Combiner* const combiner = find_combiner(datatype.combiner);
        const bool may_have_runs = combiner && combiner->is_indexed();
        datatype.integers = value_list(line, "integers", may_have_runs);
        datatype.addresses = value_list(line, "addresses", may_have_runs);
        datatype.types = id_list(line, "types");
        if (is_without_part(std::ranges::all_of(datatype.types, [this](std::int64_t part) {
                return part == null_id || m_info.datatypes.contains(part);
            })))
            return;
        datatype.size = line.optional_integer("size");
        datatype.lb = line.optional_integer("lb");
        datatype.extent = line.optional_integer("extent");
        const auto [known, is_new] =
            m_info.datatypes.try_emplace(datatype.id, DatatypeRecord{place(line), datatype});
        if (!is_new && known->second.datatype != datatype)
            fail_described_twice(line, "datatype", datatype.id, known->second.place);
    }

    void load_object_file(const InfoLine& line)
    {
        const ObjectFileRecord file = {place(line), line.text("path"), build_id(line, "buildId")};
        const std::int64_t id = object_id(line);
        if (id < 0)
            line.fail("id", "the id is negative");
        const auto [known, is_new] = m_info.object_files.try_emplace(id, file);
        if (!is_new && (known->second.path != file.path || known->second.build_id != file.build_id))
            fail_described_twice(line, "object file", id, known->second.place);
    }

    void load_source_line(const InfoLine& line)
    {
        const SourceLineRecord source = {
            place(line), {line.text_or("function", ""), line.text("path"), line.natural("line")}};
        const std::int64_t id = object_id(line);
        const auto [known, is_new] = m_info.source_lines.try_emplace(id, source);
        if (!is_new && known->second.where != source.where)
            fail_described_twice(line, "source", id, known->second.place);
    }

    bool is_described(const SiteFrame& frame) const
    {
        return frame.is_in_object()                     ? m_info.object_files.contains(frame.object)
               : frame.object == SiteFrame::source_line ? m_info.source_lines.contains(frame.offset)
                                                        : true;
    }

    void load_call_site(const InfoLine& line)
    {
        const CallSiteRecord site = {place(line), site_frames(line, "frames")};
        const auto unknown = std::ranges::find_if_not(
            site.frames, [this](const SiteFrame& frame) { return is_described(frame); });
        if (is_without_part(unknown == site.frames.end()))
            return;
        if (unknown != site.frames.end())
            line.fail("frames", (unknown->is_in_object() ? "object file " + std::to_string(unknown->object)
                                                         : "source " + std::to_string(unknown->offset)) +
                                    " is not described before");
        const std::int64_t id = object_id(line);
        if (id < 0)
            line.fail("id", "the id is negative");
        const auto [known, is_new] = m_info.call_sites.try_emplace(id, site);
        if (!is_new && known->second.frames != site.frames)
            fail_described_twice(line, "call site", id, known->second.place);
    }

    void load_comm_name(const InfoLine& line) { load_name(line, m_communicator_names); }
    void load_type_name(const InfoLine& line) { load_name(line, m_datatype_names); }
    void load_win_name(const InfoLine& line) { load_name(line, m_window_names); }

    void load_name(const InfoLine& line, Names& names)
    {
        names[object_id(line)] = {place(line), line.text("name")};
    }

    void load_end(const InfoLine& line)
    {
        const std::int64_t thread = line.optional_integer("thread").value_or(0);
        const std::int64_t dropped = line.optional_integer("dropped").value_or(0);
        const std::int64_t refused = line.optional_integer("refused").value_or(0);
        m_ended_threads.insert(thread);
        m_info.ends.push_back({place(line), thread, line.optional_integer("states"), dropped, refused});
        if (dropped > 0)
            m_run.note_lost(dropped);
    }

    void load_lost(const InfoLine& line)
    {
        m_lost_place = place(line);
        if (__builtin_add_overflow(m_lost_lines, line.natural("lines"), &m_lost_lines))
            line.fail("lines", "the number is too large");
    }

    // Such a line comes before all that may refer to what was lost, and that is left out.
    bool is_without_part(bool is_described) const { return m_lost_lines > 0 && !is_described; }

    void warn_of_lost_lines()
    {
        m_run.note_lost_lines(m_lost_lines);
        m_info.lost_lines += m_lost_lines;
        m_report.warn(
            Topic::lost_lines, m_lost_place,
            std::to_string(m_lost_lines) +
                " lines were lost while this file could not be written: what they described is not known");
    }

    // The wrapper describes the process's first thread without a line of its own.
    std::set<std::int64_t> open_threads() const
    {
        std::set<std::int64_t> threads(m_info.threads.begin(), m_info.threads.end());
        threads.insert(0);
        std::erase_if(threads, [this](std::int64_t thread) { return m_ended_threads.contains(thread); });
        return threads;
    }

    // What a process has locked in a node file it keeps behind MPI_Finalize, when all threads have ended.
    void warn_of_sudden_end()
    {
        const std::set<std::int64_t> threads = open_threads();
        if (!m_tells_its_end || threads.empty())
            return;
        if (detail::is_being_written(std::string(m_path))) {
            m_run.note_running();
            m_report.warn(Topic::sudden_ends, {m_path, m_process_line},
                          "the process is still running: its last calls are not here yet");
            return;
        }
        // The tracer's handler of signals saves all calls, and so does MPI_Finalize, which tells the
        // processor time a second time.
        if (!m_info.run.signals.empty() || m_info.run.cpu_times.size() > 1)
            return;
        m_run.note_sudden_end();
        for (const std::int64_t thread : threads)
            m_report.warn(Topic::sudden_ends, {m_path, m_process_line},
                          "the process was ended from outside, or could not write its files to the end: "
                          "the last calls of thread " +
                              std::to_string(thread) + " may be missing in its trace");
    }

    void apply_names()
    {
        apply_shared_names("communicator", m_communicator_names, m_info.communicators);
        apply_shared_names("window", m_window_names, m_info.windows);
        for (const auto& [id, name] : m_datatype_names) {
            if (const auto found = m_info.datatypes.find(id); found == m_info.datatypes.end())
                warn_of_unused_name("datatype", id, name);
            else if (found->second.datatype.combiner != "NAMED")
                found->second.datatype.name = name.name;
        }
    }

    template <typename Record>
    void apply_shared_names(const std::string& what, const Names& names,
                            std::map<std::int64_t, Record>& records)
    {
        for (const auto& [id, name] : names) {
            if (const auto found = records.find(id); found != records.end()) {
                found->second.name = name.name;
                found->second.named_by_program = true;
            } else
                warn_of_unused_name(what, id, name);
        }
    }

    void warn_of_unused_name(const std::string& what, std::int64_t id, const Name& name)
    {
        if (m_lost_lines > 0)
            return;
        m_report.warn(Topic::names_of_unknown_objects, name.place,
                      what + " " + std::to_string(id) + " is named, but not described");
    }

    [[noreturn]] static void fail_described_twice(const InfoLine& line, const std::string& what,
                                                  std::int64_t id, const Place& first)
    {
        line.fail("id", what + " " + std::to_string(id) + " is described differently in " + to_string(first));
    }

    std::string_view m_path;
    ProcessInfo& m_info;
    Report& m_report;
    RunLoader m_run;
    ProcessLine m_process;
    std::uint64_t m_process_line = 0;
    bool m_tells_its_end = false; // written by the wrapper, which ends every thread with a line
    std::set<std::int64_t> m_ended_threads;
    std::int64_t m_lost_lines = 0;
    Place m_lost_place;
    Names m_communicator_names;
    Names m_datatype_names;
    Names m_window_names;
    std::uint64_t m_unknown_count = 0;
    std::uint64_t m_unknown_line = 0;
    std::string m_unknown_kind;
};

} // namespace

void read_info(std::string_view path, ProcessInfo& info, Report& report)
{
    info.paths.emplace_back(path);
    InfoLoader(path, info, report).load();
}

} // namespace hdtrace::merger
