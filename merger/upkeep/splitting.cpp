#include "merger/upkeep/splitting.h"

#include "hdtrace/tools/file_error.h"
#include "merger/trace_name.h"
#include "merger/upkeep/upkeep_error.h"

#include <cerrno>
#include <unistd.h>

namespace hdtrace::merger {

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
