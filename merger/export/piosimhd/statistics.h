// Groups of statistics of the original tools (.stat), which lie beside traces.
#pragma once

#include <string>
#include <vector>

#include "merger/export/piosimhd/contents.h"

namespace hdtrace::exporter::piosimhd {

struct StatisticsFile {
    std::string source; ///< its path
    std::string name;   ///< in the output
};

struct StatisticsValue {
    std::string name;
    std::string type;
    std::string unit;
};

struct StatisticsGroup {
    std::string name;
    std::vector<StatisticsValue> values;
};

struct Statistics {
    std::vector<StatisticsGroup> groups;
    std::vector<StatisticsFile> files;
    std::vector<std::string> left_out; ///< paths of files that the readers would not load
};

/// Of all processes, hosts and the run, by the names that the original tools give them. Throws FileError.
Statistics find_statistics(const Contents& contents);

} // namespace hdtrace::exporter::piosimhd
