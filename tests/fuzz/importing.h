// importing.h - files of another tool become a project, or are refused.
#pragma once

#include "merger/import/project.h"
#include "merger/import/source.h"
#include "merger/report.h"
#include "tests/fuzz/input_folder.h"

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::fuzz {

/// What a user would see as a message is thrown away.
inline void import(std::string_view format, const std::vector<std::string>& files, const InputFolder& folder)
{
    try {
        const std::string output = folder.path_of("app.proj");
        const exporter::OutputDirectory directory(output);
        importer::Traces traces(directory, "app", "app");
        exporter::Account account;
        importer::find_source(format)->import(
            {files, {}, traces, account, [](std::string_view, std::size_t, std::size_t) {}});
        merger::Report report([](const merger::Diagnostic&) {},
                              [](std::string_view, std::size_t, std::size_t) {});
        importer::write_project(directory, output, report);
    } catch (const std::exception&) {
    }
}

/// Each part of a text as a file `NAME-0SUFFIX`, `NAME-1SUFFIX`, ...; at most eight.
inline std::vector<std::string> write_parts(const InputFolder& folder, std::string_view text,
                                            const std::string& name, const std::string& suffix)
{
    constexpr std::size_t most_files = 8;
    std::vector<std::string> files;
    do
        files.push_back(folder.write(name + "-" + std::to_string(files.size()) + suffix, take_part(text)));
    while (!text.empty() && files.size() < most_files);
    return files;
}

} // namespace hdtrace::fuzz
