#include "merger/upkeep/splitting.h"

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/sums.h"
#include "hdtrace/tools/file_error.h"
#include "merger/trace_name.h"
#include "merger/upkeep/upkeep_error.h"

#include <cerrno>
#include <unistd.h>

namespace hdtrace::merger {

namespace {

std::string existing_file(const std::string& trace)
{
    return has_only_sums(trace) ? sums_path(trace) : detail::existing_name(trace);
}

} // namespace

void refuse_cut_off(const std::vector<TraceFile>& traces)
{
    for (const TraceFile& trace : traces) {
        const detail::FilePlace place = detail::place_of(existing_file(trace.path));
        if (detail::may_lack_pieces(place, trace.node_file_size))
            throw UpkeepError(place.path + ": this was cut off, which files of their own would not tell");
    }
}

std::size_t split_node_file(const std::string& path, const ByteProgress& progress)
{
    const std::vector<std::string> files = detail::paths_in_node_file(path);
    if (files.empty())
        throw UpkeepError(path + ": no files are in this");
    if (!detail::living_files(path, "").empty())
        throw UpkeepError(path + ": this is being written; wait until the run has ended");
    NewFiles made(progress);
    for (const std::string& file : files) {
        if (const auto place = detail::place_in_node_file(file))
            made.copy_out(*place, file);
    }
    made.keep(std::string(directory_of(path)));
    if (unlink(path.c_str()) != 0)
        throw tools::FileError(path, errno);
    return files.size();
}

} // namespace hdtrace::merger
