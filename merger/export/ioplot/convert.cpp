// The format of the ioplots tools: `rank op offset length start_time end_time`, one line for each contiguous
// piece.

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "hdtrace/format/merged_traces.h"
#include "hdtrace/matching/requests.h"
#include "merger/export/file_view.h"
#include "merger/export/format.h"
#include "merger/export/text_output.h"
#include "merger/output_file.h"

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

bool is_access(std::string_view name)
{
    constexpr std::string_view beginnings[] = {"File_read", "File_write", "File_iread", "File_iwrite"};
    return std::ranges::any_of(beginnings,
                               [&](std::string_view beginning) { return name.starts_with(beginning); });
}

class IoPlot {
  public:
    IoPlot(const ObjectTable& objects, const ProjectFile& file, TextOutput& output, Account& account)
        : m_objects(objects), m_types(objects), m_file(file), m_output(output), m_account(account)
    {
    }

    /// Takes all calls in the order of time.
    void add(const TraceFile& trace, const State& call)
    {
        m_start = m_start.value_or(call.time);
        for (const Completion& completion : m_requests.add(trace, call).completed)
            complete(trace.rank, completion);
        if (m_objects.file(trace.rank, call) != &m_file)
            return;
        if (call.name == "File_set_view")
            set_view(trace.rank, call);
        else if (call.name == "File_open")
            m_views.erase(trace.rank);
        else if (is_access(call.name))
            start(trace.rank, call);
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

    void set_view(std::int64_t rank, const State& call)
    {
        if (call.find("rc") != nullptr)
            return;
        const Type* type = m_types.find(rank, call.integer("filetid").value_or(-1));
        const std::string* representation = call.find("representation");
        m_views[rank] = {
            type ? std::optional(FileView(call.integer("offset").value_or(0), *type)) : std::nullopt,
            representation == nullptr || *representation == "native" || *representation == "NATIVE"};
    }

    void start(std::int64_t rank, const State& call)
    {
        const std::optional<std::int64_t> offset = call.integer("offset");
        const View& view = m_views[rank];
        if (call.find("rc") != nullptr)
            return m_account.dropped("accesses that failed");
        if (!offset)
            return m_account.dropped(
                "accesses with the shared file pointer, since the trace does not tell their offset");
        if (!view.of_file)
            return m_account.dropped("accesses through a view whose file type is not described");
        if (!view.of_file->is_regular())
            return m_account.dropped("accesses through a file type that overlaps itself or goes backwards");
        const std::int64_t asked = call.integer("size").value_or(0);
        const Access access = {rank,
                               call.name.find("write") != std::string::npos,
                               *view.of_file,
                               *offset,
                               std::min(asked, call.integer("actual").value_or(asked)),
                               call.time};
        if (view.is_native)
            m_account.exact();
        else
            m_account.approximated("accesses in another data representation: with the sizes in memory");
        if (const std::optional<std::int64_t> rid = call.integer("rid"))
            m_pending.insert_or_assign({rank, *rid}, Pending{access, call.end});
        else
            write(access, call.end);
    }

    void complete(std::int64_t rank, const Completion& completion)
    {
        const auto found = m_pending.find({rank, completion.rid});
        if (found == m_pending.end())
            return;
        Access& access = found->second.access;
        if (completion.what != nullptr)
            access.size = std::min(access.size, completion.what->integer("actual").value_or(access.size));
        write(access, completion.end);
        m_pending.erase(found);
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
    RequestTable m_requests;
    std::optional<std::int64_t> m_start;                                ///< of the first call of the run
    std::map<std::int64_t, View> m_views;                               ///< of the processes
    std::map<std::pair<std::int64_t, std::int64_t>, Pending> m_pending; ///< by rank and rid
};

} // namespace

void convert_to_ioplot(const Project& project, const Options& options, Account& account)
{
    const ProjectFile& file = wanted_file(project, options.file);
    const ObjectTable objects(project);
    merger::OutputFile output_file(options.output);
    TextOutput output([&](std::string_view text) { output_file.write(text); });
    IoPlot plot(objects, file, output, account);
    MergedTraces calls(traces_of(project));
    while (const State* call = calls.next())
        plot.add(calls.trace(), *call);
    plot.finish();
    output.flush();
    output_file.commit();
}

} // namespace hdtrace::exporter
