// A copy of a project and its traces for the original tools.

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <optional>
#include <unistd.h>

#include "hdtrace/tools/file_error.h"
#include "merger/export/format.h"
#include "merger/export/output_directory.h"
#include "merger/export/piosimhd/project_file.h"
#include "merger/export/piosimhd/trace_copy.h"

namespace hdtrace::exporter {
namespace {

using piosimhd::Contents;
using piosimhd::Leaf;
using piosimhd::Simulated;
using piosimhd::Statistics;
using piosimhd::TypeLosses;

constexpr std::int64_t second = 1'000'000'000;

std::int64_t second_of(std::int64_t time)
{
    return time / second - (time % second < 0 ? 1 : 0);
}

/// Their seconds have 32 bits.
void check_times(const Simulated& simulated)
{
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (second_of(simulated.end()) > most || second_of(simulated.begin()) < -most)
        throw ConvertError(
            "the original tools cannot tell times so far from 1970, before 1902 or after 2037");
}

void write_project(const OutputDirectory& directory, const Contents& contents, const Statistics& statistics,
                   const ObjectTable& objects, TypeLosses& losses)
{
    const std::string name = contents.base() + ".proj";
    const int file =
        open((directory.temporary_path() / name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        throw tools::FileError(directory.path() / name, errno);
    try {
        piosimhd::write_project(contents, statistics, objects, file, losses);
    } catch (const std::system_error& error) {
        close(file);
        throw tools::FileError(directory.path() / name, error.code().value());
    } catch (...) {
        close(file);
        throw;
    }
    if (close(file) != 0)
        throw tools::FileError(directory.path() / name, errno);
}

void copy_statistics(const OutputDirectory& directory, const Statistics& statistics)
{
    std::vector<char> block(std::size_t{1} << 18);
    for (const auto& [source, name] : statistics.files) {
        std::ifstream input(source, std::ios::binary);
        DirectoryFile output(directory, name);
        while (input.read(block.data(), static_cast<std::streamsize>(block.size())) || input.gcount() > 0)
            output.write({block.data(), static_cast<std::size_t>(input.gcount())});
        if (input.bad() || !input.eof())
            throw tools::FileError(source, EIO);
        output.close();
    }
}

void note(Account& account, std::int64_t count, const char* what)
{
    if (count > 0)
        account.note(std::to_string(count) + " " + what);
}

void tell_losses(const TypeLosses& losses, Account& account)
{
    note(account, losses.as_bytes, "datatypes have their size, but as one block of bytes");
    note(account, losses.without_data, "datatypes without data have one byte: the simulator wants some");
    note(account, losses.unknown_sizes, "datatypes have one byte: their size is not known");
    note(account, losses.extents,
         "datatypes end elsewhere for the original tools, which know no resized ones");
}

void convert_to_piosimhd(const Project& project, const Options& options, Account& account)
{
    OutputDirectory directory(options.output);
    const Contents contents(project);
    const ObjectTable objects(project);
    const Simulated simulated(project, objects, contents.existing_traces());
    check_times(simulated);
    const Statistics statistics = piosimhd::find_statistics(contents);
    TypeLosses losses;
    write_project(directory, contents, statistics, objects, losses);
    const piosimhd::CopyContext context{contents, objects, simulated, second_of(simulated.begin()), account};
    for (const Leaf& leaf : contents.leaves()) {
        DirectoryFile file(directory, contents.file_name(leaf));
        TextOutput output([&](std::string_view text) { file.write(text); });
        piosimhd::TraceCopy(context, leaf, output).write();
        file.close();
    }
    copy_statistics(directory, statistics);
    tell_losses(losses, account);
    note(account, contents.missing_traces(), "traces are not there: they are empty in the copy");
    for (const std::string& path : statistics.left_out)
        account.note(path + " is left out: the original tools cannot read it");
    directory.commit();
}

} // namespace

Format piosimhd_format()
{
    return {
        "piosimhd", "a directory with a copy for the original tools and PIOsimHD", convert_to_piosimhd, {}};
}

} // namespace hdtrace::exporter
