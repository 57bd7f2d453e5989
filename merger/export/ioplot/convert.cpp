// The format of the ioplots tools: `rank op offset length start_time end_time`, one line for each contiguous
// piece.

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "hdtrace/matching/file_view.h"
#include "hdtrace/matching/walk.h"
#include "hdtrace/tools/output_file.h"
#include "merger/export/format.h"
#include "merger/export/text_output.h"

namespace hdtrace::exporter {

namespace {

/// The only file of the project, or the one that is so called; a part of the name behind a '/' is enough.
const ProjectFile& wanted_file(const Project& project, const std::string& name)
{
    std::vector<const ProjectFile*> found;
    for (const ProjectFile& file : project.files) {
        if (name.empty() || file.name == name || file.name.ends_with("/" + name))
            found.push_back(&file);
    }
    if (found.size() == 1)
        return *found[0];
    if (project.files.empty())
        throw ConvertError("the program used no file");
    std::string names;
    for (const ProjectFile* file : found)
        names += "\n  " + file->name;
    if (found.empty())
        throw ConvertError("the program used no file " + name);
    throw ConvertError("a plot shows one file; choose with --file:" + names);
}

/// What is known about an access when it is started.
struct Access {
    std::int64_t rank;
    bool is_write;
    FileView view;
    std::int64_t offset;
    std::int64_t size;
    std::int64_t time;
};

bool reads_or_writes(const CallFacts& facts)
{
    return facts.file == FileAccess::read || facts.file == FileAccess::write;
}

/// Visits all calls in the order of time.
class IoPlot : public EventVisitor {
  public:
    IoPlot(const ObjectTable& objects, const ProjectFile& file, TextOutput& output, Account& account)
        : m_objects(objects), m_types(objects), m_file(file), m_output(output), m_account(account)
    {
    }

    void enter(const Call& call) override { m_start = m_start.value_or(call.state.time); }
    void mark(const Call& call) override { m_start = m_start.value_or(call.state.time); }

    void accessed(const Call& call, const Operation& operation) override
    {
        if (is_wanted(call) && !call.has_failed() && reads_or_writes(*operation.facts))
            start(operation);
    }

    void completed(const Call& call, const Completion& completion) override
    {
        const auto found = m_pending.extract({call.trace.rank, completion.rid});
        if (!found)
            return;
        Access& access = found.mapped().access;
        access.size = std::min(access.size, completion.what->integer("actual").value_or(access.size));
        write(access, completion.end);
    }

    void leave(const Call& call) override
    {
        if (!is_wanted(call))
            return;
        if (call.has_failed() && reads_or_writes(call.facts))
            m_account.dropped("accesses that failed");
        else if (call.facts.file == FileAccess::view && !call.has_failed())
            set_view(call.trace.rank, call.state);
        else if (call.facts.makes == ObjectKind::file)
            m_views.erase(call.trace.rank);
    }

    void finish()
    {
        for (const auto& [ignored, pending] : m_pending) {
            write(pending.access, pending.end);
            m_account.approximated(
                "accesses of which no call tells the end: until the call that started them returned");
        }
    }

  private:
    struct Pending {
        Access access;
        std::int64_t end; ///< of the call that started it
    };

    /// What the MPI library does inside a call is part of that call.
    bool is_wanted(const Call& call) const
    {
        return !call.is_inside_call && m_objects.file(call.trace.rank, call.state) == &m_file;
    }

    void set_view(std::int64_t rank, const State& call)
    {
        const MappedType* type = m_types.find(rank, call.integer("filetid").value_or(-1));
        const std::string* representation = call.find("representation");
        m_views[rank] = {
            type ? std::optional(FileView(call.integer("offset").value_or(0), *type)) : std::nullopt,
            representation == nullptr || *representation == "native" || *representation == "NATIVE"};
    }

    void start(const Operation& operation)
    {
        const Element& call = *operation.call;
        const std::optional<std::int64_t> offset = call.integer("offset");
        const View& view = m_views[operation.rank];
        if (!offset)
            return m_account.dropped(
                "accesses with the shared file pointer, since the trace does not tell their offset");
        if (!view.of_file)
            return m_account.dropped("accesses through a view whose file type is not described");
        if (!view.of_file->is_regular())
            return m_account.dropped("accesses through a file type that overlaps itself or goes backwards");
        const std::int64_t asked = call.integer("size").value_or(0);
        const Access access = {operation.rank,
                               operation.facts->file == FileAccess::write,
                               *view.of_file,
                               *offset,
                               std::min(asked, call.integer("actual").value_or(asked)),
                               operation.time};
        if (view.is_native)
            m_account.exact();
        else
            m_account.approximated("accesses in another data representation: with the sizes in memory");
        if (operation.rid >= 0)
            m_pending.insert_or_assign({operation.rank, operation.rid}, Pending{access, operation.end});
        else
            write(access, operation.end);
    }

    void write(const Access& access, std::int64_t end)
    {
        access.view.visit_pieces(
            access.offset, access.size, [&](std::int64_t piece_begin, std::int64_t piece_end) {
                m_output.number(access.rank).text(access.is_write ? " w " : " r ");
                m_output.number(piece_begin).text(" ").number(piece_end - piece_begin).text(" ");
                m_output.seconds(access.time - *m_start).text(" ").seconds(end - *m_start).text("\n");
            });
    }

    struct View {
        std::optional<FileView> of_file = FileView();
        bool is_native = true;
    };

    const ObjectTable& m_objects;
    TypeMaps m_types;
    const ProjectFile& m_file;
    TextOutput& m_output;
    Account& m_account;
    std::optional<std::int64_t> m_start;                                ///< of the first call of the run
    std::map<std::int64_t, View> m_views;                               ///< of the processes
    std::map<std::pair<std::int64_t, std::int64_t>, Pending> m_pending; ///< by rank and rid
};

void convert_to_ioplot(const Project& project, const Options& options, Account& account)
{
    const ProjectFile& file = wanted_file(project, options.text("file"));
    const ObjectTable objects(project);
    tools::OutputFile output_file(options.output);
    TextOutput output([&](std::string_view text) { output_file.write(text); });
    IoPlot plot(objects, file, output, account);
    MergedTraces calls(traces_of(project));
    EventWalk({&plot}).add_all(calls);
    plot.finish();
    output.flush();
    output_file.commit();
}

} // namespace

Format ioplot_format()
{
    return {"ioplot",
            "a file with a line for each contiguous piece of a file that was read or written",
            convert_to_ioplot,
            {{"file", "NAME", "the file that is wanted, if the program used several"}}};
}

} // namespace hdtrace::exporter
