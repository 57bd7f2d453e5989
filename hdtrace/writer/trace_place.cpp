#include "hdtrace/writer/trace_place.h"

namespace hdtrace {

namespace {

constexpr const char* mpi_levels[] = {"Hostname", "Rank", "Thread"};
enum MpiLevel { hostname, rank, thread, mpi_depth };

bool is_number(const char* label)
{
    constexpr size_t most_digits = 9;
    const size_t digits = strspn(label, "0123456789");
    return digits <= most_digits && label[digits] == '\0';
}

void append_list(TextBuffer& out, const NameList& names)
{
    for (int i = 0; i < names.count(); ++i)
        out.info_escaped(names[i]).text(";");
}

} // namespace

bool is_mpi_place(const hdTopoNode& node)
{
    const NameList& levels = node.topology->levels;
    if (levels.count() != mpi_depth)
        return false;
    for (int i = 0; i < mpi_depth; ++i) {
        if (strcmp(levels[i], mpi_levels[i]) != 0)
            return false;
    }
    return is_number(node.labels[rank]) && is_number(node.labels[thread]);
}

void append_path(TextBuffer& out, const char* directory, const hdTopoNode& node, const char* suffix)
{
    out.string(directory).text("/").string(node.path.data()).string(suffix);
}

void append_root_attributes(TextBuffer& out, const hdTopoNode& node)
{
    if (is_mpi_place(node))
        out.text("rank='").string(node.labels[rank]).text("' thread='").string(node.labels[thread]).text("'");
}

void append_process_line(TextBuffer& out, const hdTopoNode& node, int64_t base)
{
    out.text("Process base='").info_escaped(node.topology->project.data());
    if (is_mpi_place(node)) {
        out.text("' host='").info_escaped(node.labels[hostname]);
        out.text("' rank=").string(node.labels[rank]).text(" thread=").string(node.labels[thread]);
    } else {
        append_list(out.text("' levels='"), node.topology->levels);
        append_list(out.text("' path='"), node.labels);
        out.text("'");
    }
    out.text(" version=1 timeAdjustment=").number(base).text("\n");
}

void append_end_line_start(TextBuffer& out, const hdTopoNode& node)
{
    out.text("End");
    if (is_mpi_place(node))
        out.text(" thread=").string(node.labels[thread]);
}

} // namespace hdtrace
