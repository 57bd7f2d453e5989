#include "merger/import/source.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "merger/export/registry.h"

namespace hdtrace::importer {

// The row of each folder.
#define HDT_SOURCE(name) Source name##_source();
#include "sources.inc"
#undef HDT_SOURCE

const std::vector<Source>& sources()
{
    static const std::vector<Source> all = {
#define HDT_SOURCE(name) name##_source(),
#include "sources.inc"
#undef HDT_SOURCE
    };
    return all;
}

const Source* find_source(std::string_view name)
{
    return exporter::find_named(sources(), name);
}

namespace {

std::string beginning_of(const std::string& path)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return {};
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open())
        throw ImportError(path + ": " + std::strerror(errno));
    std::string beginning(4096, '\0');
    file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    beginning.resize(static_cast<std::size_t>(file.gcount()));
    return beginning;
}

bool is_of_hdtrace(std::string_view path)
{
    return path.ends_with(".proj") || path.ends_with(".info") || path.ends_with(".trc");
}

const Source& source_of(const std::string& path)
{
    const std::string beginning = beginning_of(path);
    for (const Source& source : sources())
        if (source.recognises(path, beginning))
            return source;
    if (is_of_hdtrace(path))
        throw ImportError(
            path + ": this is of hdtrace or of the original tool: all commands read it without import");
    throw ImportError(path + ": this is no trace of a format that can be imported");
}

} // namespace

const Source& source_of(const std::vector<std::string>& files)
{
    const Source& source = source_of(files.front());
    for (const std::string& file : files) {
        if (const Source& other = source_of(file); other.name != source.name)
            throw ImportError(file + ": this is " + std::string(other.name) + ", but " + files.front() +
                              " is " + std::string(source.name));
    }
    return source;
}

} // namespace hdtrace::importer
