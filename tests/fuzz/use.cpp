// Any bytes as a project and its traces, separated by lines `%%`: they are checked, explained and converted,
// or refused.
#include "hdtrace/checking/checker.h"
#include "hdtrace/explaining/causes.h"
#include "hdtrace/explaining/critical_path.h"
#include "hdtrace/explaining/efficiencies.h"
#include "hdtrace/explaining/history_reader.h"
#include "hdtrace/explaining/time_use.h"
#include "merger/export/format.h"
#include "tests/fuzz/input_folder.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <vector>

namespace hdtrace::exporter {
namespace {

/// Larger programs take too long to write.
constexpr std::int64_t most_processes = 64;

/// Only beside the project.
void write_traces(const fuzz::InputFolder& folder, const Project& project, std::string_view text)
{
    for (const std::string& path : project.trace_paths()) {
        const std::string name = std::filesystem::path(path).filename();
        if (!text.empty() && path == folder.path_of(name))
            folder.write(name, fuzz::take_part(text));
    }
}

void check(const std::string& path)
{
    Checker checker(std::make_shared<const OpenedProject>(read_project(path)));
    while (!checker.at_end())
        checker.read(1000);
}

void explain(const std::string& path)
{
    HistoryReader reader(std::make_shared<const OpenedProject>(read_project(path)));
    while (reader.read(1000)) {
    }
    const History& history = reader.history();
    const std::vector<WaitState> waits = find_wait_states(history);
    sum_up(history, waits);
    TimeUse(history, waits).spreads();
    profile_of(find_critical_path(history, waits), history, waits);
    find_causes(history, waits);
    [[maybe_unused]] const Efficiencies efficiencies(history, waits);
}

void convert(const Project& project, const Format& format, const std::string& output)
{
    Account account;
    Options options;
    options.output = output;
    options.of_format["most-pieces"] = "10000"; // of ioplot; others do not look at it
    format.convert(project, options, account);
    account.lines();
}

/// What a user would see as a message.
template <class Use> void use_or_refuse(Use use)
{
    try {
        use();
    } catch (const std::exception&) {
    }
}

void use_all(const fuzz::InputFolder& folder, std::string_view text)
{
    const std::string path = folder.write("app.proj", fuzz::take_part(text));
    const Project project = read_project(path);
    check_processes(project);
    if (project.process_count > most_processes)
        return;
    write_traces(folder, project, text);
    use_or_refuse([&] { check(path); });
    use_or_refuse([&] { explain(path); });
    for (const Format& format : formats())
        use_or_refuse([&] { convert(project, format, folder.path_of("output")); });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::InputFolder folder;
    use_or_refuse([&] { use_all(folder, fuzz::as_text(data, size)); });
    return 0;
}

} // namespace hdtrace::exporter
