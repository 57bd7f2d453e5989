// Any bytes as the binary files of DUMPI of some processes, separated by lines `%%`: a project is made of
// them, or they are refused.
#include "merger/import/project.h"
#include "merger/import/source.h"
#include "merger/report.h"
#include "tests/fuzz/input_folder.h"

#include <algorithm>
#include <exception>
#include <vector>

namespace hdtrace::importer {
namespace {

constexpr std::string_view separator = "\n%%\n";
constexpr std::size_t most_processes = 8;

std::vector<std::string> write_files(const fuzz::InputFolder& folder, std::string_view text)
{
    std::vector<std::string> files;
    for (bool has_more = true; has_more && files.size() < most_processes;) {
        const std::size_t end = text.find(separator);
        has_more = end != std::string_view::npos;
        files.push_back(folder.write("x-" + std::to_string(files.size()) + ".bin", text.substr(0, end)));
        text.remove_prefix(has_more ? end + separator.size() : text.size());
    }
    return files;
}

void import(const std::vector<std::string>& files, const std::string& output)
{
    const exporter::OutputDirectory directory(output);
    Traces traces(directory, "app", "app");
    exporter::Account account;
    find_source("dumpi")->import(
        {files, {}, traces, account, [](std::string_view, std::size_t, std::size_t) {}});
    merger::Report report([](const merger::Diagnostic&) {},
                          [](std::string_view, std::size_t, std::size_t) {});
    write_project(directory, output, report);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::InputFolder folder;
    try {
        import(write_files(folder, fuzz::as_text(data, size)), folder.path_of("app.proj"));
    } catch (const std::exception&) { // what a user would see as a message
    }
    return 0;
}

} // namespace hdtrace::importer
