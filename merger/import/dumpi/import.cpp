// Traces of DUMPI: a metafile, and a binary file for each process.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "merger/import/dumpi/process_import.h"
#include "merger/import/source.h"

namespace hdtrace::importer {

using namespace dumpi;

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::string_view magic("\xff\xaa\xdd"
                                 "DUMPI",
                                 8);

bool is_metafile(const std::string& path, std::string_view beginning)
{
    return fs::path(path).extension() == ".meta" && beginning.find("fileprefix=") != std::string_view::npos;
}

bool recognises(const std::string& path, std::string_view beginning)
{
    return beginning.starts_with(magic) || is_metafile(path, beginning);
}

std::map<std::string, std::string, std::less<>> read_metafile(const std::string& path)
{
    std::ifstream file(path);
    if (!file.is_open())
        throw ImportError(path + ": " + std::strerror(errno));
    std::map<std::string, std::string, std::less<>> values;
    constexpr std::size_t most = 1 << 16;
    std::string line;
    for (std::size_t bytes = 0; std::getline(file, line); bytes += line.size()) {
        if (bytes > most)
            throw ImportError(path, bytes, "the metafile is too large");
        if (const std::size_t place = line.find('='); place != std::string::npos)
            values[line.substr(0, place)] = line.substr(place + 1);
    }
    return values;
}

/// The name that the file of a process has: numbers have as many digits as in those of all others.
std::string name_of(const std::string& prefix, std::int64_t rank, std::size_t digits)
{
    const std::string number = std::to_string(rank);
    return prefix + "-" + std::string(number.size() < digits ? digits - number.size() : 0, '0') + number +
           ".bin";
}

std::vector<std::string> files_of_metafile(const std::string& path)
{
    const auto values = read_metafile(path);
    const auto text = [&](std::string_view key) {
        const auto found = values.find(key);
        return found == values.end() ? std::string() : found->second;
    };
    std::int64_t count = 0;
    const std::string number = text("numprocs"), prefix = text("fileprefix");
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
    constexpr std::int64_t most = 1 << 24;
    if (error != std::errc() || end != number.data() + number.size() || count < 1 || count > most ||
        prefix.empty())
        throw ImportError(path + ": this is no metafile of DUMPI: it has no usable numprocs and fileprefix");
    const std::string beginning = fs::path(path).parent_path() / prefix;
    for (const std::size_t digits : {4, 5, 6, 7, 8, 9, 0, 1, 2, 3}) {
        if (!fs::exists(name_of(beginning, 0, digits)))
            continue;
        std::vector<std::string> files;
        for (std::int64_t rank = 0; rank < count; ++rank) {
            files.push_back(name_of(beginning, rank, digits));
            if (!fs::exists(files.back()))
                throw ImportError(files.back() +
                                  ": the metafile says that there is this file: " + std::strerror(ENOENT));
        }
        return files;
    }
    throw ImportError(name_of(beginning, 0, 4) +
                      ": the metafile says that there is this file: " + std::strerror(ENOENT));
}

/// In the order of the ranks: those that the metafile names, or those that were given, by their names.
std::vector<std::string> files_of(const Import& import)
{
    if (import.files.size() == 1 && fs::path(import.files[0]).extension() == ".meta")
        return files_of_metafile(import.files[0]);
    std::vector<std::string> files = import.files;
    for (const std::string& file : files)
        if (fs::path(file).extension() == ".meta")
            throw ImportError(file + ": a metafile names the files of all processes: it is given alone");
    std::ranges::sort(files, [](const std::string& a, const std::string& b) {
        return std::pair(a.size(), a) < std::pair(b.size(), b);
    });
    return files;
}

/// What has to be known of all processes before the first one is written.
struct Run {
    std::int64_t start = 0;           ///< nanoseconds since the epoch
    std::vector<std::int64_t> shifts; ///< of processes, from the clocks of their files
    std::vector<std::int64_t> first;  ///< when their first calls began, by these clocks
    std::string version;
};

/// Clocks of files count from the epoch, or from some moment of the machine's: then the first call began at
/// the start of the run.
std::int64_t shift_of(std::int64_t start, std::int64_t first)
{
    constexpr std::int64_t day = 24 * 3600 * second;
    const std::int64_t distance = first - start;
    return distance > -day && distance < day ? 0 : -distance;
}

Run look_at_all(const Import& import, const std::vector<std::string>& files, RunCommunicators& communicators)
{
    Run run;
    for (std::size_t rank = 0; rank < files.size(); ++rank) {
        import.progress("reading", rank, files.size());
        BinReader reader(files[rank]);
        run.version = reader.version();
        communicators.begin_process(static_cast<std::int64_t>(rank));
        std::int64_t first = std::numeric_limits<std::int64_t>::max();
        for (Record record; reader.next(record);) {
            first = std::min(first, record.time);
            communicators.see(record);
        }
        std::int64_t start = 0;
        if (reader.start() < 0 || __builtin_mul_overflow(reader.start(), second, &start))
            throw ImportError(files[rank] +
                              ": the start of the run cannot be: " + std::to_string(reader.start()));
        if (first == std::numeric_limits<std::int64_t>::max())
            first = start;
        std::int64_t distance = 0;
        if (__builtin_sub_overflow(start, first, &distance))
            throw ImportError(files[rank] +
                              ": the start of the run cannot be: " + std::to_string(reader.start()));
        run.first.push_back(first);
        run.shifts.push_back(shift_of(start, first));
    }
    return run;
}

void import_dumpi(const Import& import)
{
    const std::vector<std::string> files = files_of(import);
    const auto size = static_cast<std::int64_t>(files.size());
    RunCommunicators communicators(size);
    const Run run = look_at_all(import, files, communicators);
    communicators.find_all();
    const bool is_shifted = std::ranges::any_of(run.shifts, [](std::int64_t shift) { return shift != 0; });
    import.traces.set_origin("DUMPI", "DUMPI " + run.version,
                             is_shifted ? "those of each machine, from the start of the run on" : "",
                             "functions that came after MPI 2");
    for (std::size_t i = 0; i < files.size(); ++i) {
        import.progress("writing", i, files.size());
        BinReader reader(files[i]);
        const std::int64_t begin = run.first[i] + run.shifts[i];
        ProcessTrace trace(import.traces, {.rank = static_cast<std::int64_t>(i),
                                           .size = size,
                                           .host = reader.host() == "<none>" ? "" : reader.host(),
                                           .base = begin / second});
        ProcessImport process(reader, communicators, trace, static_cast<std::int64_t>(i), run.shifts[i],
                              import.account);
        for (Record record; reader.next(record);)
            process.write(record);
        process.close();
    }
    if (is_shifted)
        import.account.note("the clocks of the files do not count from the epoch: the first call of each "
                            "process begins when the run did");
}

} // namespace

Source dumpi_source()
{
    return {
        "dumpi", "the metafile of DUMPI, or the binary files of all processes", recognises, import_dumpi, {}};
}

} // namespace hdtrace::importer
