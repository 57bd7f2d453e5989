#include "mpiwrapper/launcher/tracer_files.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

namespace hdtrace {

namespace {

namespace fs = std::filesystem;

constexpr const char* wrapper_name = "libHDTraceMPIWrapper.so";

/// With the wrappers in folders that have the names of their libraries.
const fs::path& folder()
{
    static const fs::path path =
        (fs::read_symlink("/proc/self/exe").parent_path() / HDTRACE_WRAPPERS_FROM_HERE).lexically_normal();
    return path;
}

} // namespace

std::string wrapper_for_any()
{
    return folder() / "libHDTraceMPIWrapper-any.so";
}

std::string wrapper_for(const std::string& mpi_library)
{
    const fs::path wrapper = folder() / mpi_library / wrapper_name;
    return access(wrapper.c_str(), R_OK) == 0 ? wrapper.string() : "";
}

std::vector<std::string> traceable_libraries()
{
    std::vector<std::string> names;
    std::error_code error; // then there are none
    for (const fs::directory_entry& entry : fs::directory_iterator(folder(), error)) {
        const std::string name = entry.path().filename();
        if (entry.is_directory(error) && !wrapper_for(name).empty()) {
            names.push_back(name);
        }
    }
    std::ranges::sort(names);
    return names;
}

bool is_mpi_library(std::string_view name)
{
    static constexpr std::string_view beginnings[] = {"libmpi.so",      "libmpich.so",   "libmpi_abi.so",
                                                      "libmpi_cray.so", "libmpi_ibm.so", "libmpi_gnu"};
    return std::ranges::any_of(beginnings, [&](std::string_view text) { return name.starts_with(text); });
}

} // namespace hdtrace
