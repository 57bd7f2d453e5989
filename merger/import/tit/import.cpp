// SimGrid's time-independent traces.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "merger/export/speed.h"
#include "merger/import/source.h"
#include "merger/import/tit/process.h"
#include "merger/import/tit/unwaited_sends.h"

namespace fs = std::filesystem;

namespace hdtrace::importer {

using tit::Action;
using tit::ActionReader;
using tit::Process;

namespace {

/// The first line that says something.
std::vector<std::string> first_words(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (std::vector<std::string> words = tit::words_of(text.substr(0, end)); !words.empty())
            return words;
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return {};
}

bool is_action(const std::vector<std::string>& words)
{
    const auto rank = words.size() < 2 ? std::nullopt : tit::whole_number(words[0]);
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return rank && *rank >= 0 && std::ranges::all_of(words[1], is_letter);
}

std::string beginning_of(const fs::path& path)
{
    std::string text(4096, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

/// A name in a list counts from the current directory, as SimGrid has it; what is moved lies beside the list.
fs::path listed_file(const std::string& list, const std::string& name)
{
    const fs::path directory = fs::path(list).parent_path();
    std::error_code ignored;
    for (const fs::path& path : {fs::path(name), directory / name, directory / fs::path(name).filename()})
        if (fs::is_regular_file(path, ignored))
            return path;
    return {};
}

bool recognises(const std::string& path, std::string_view beginning)
{
    const std::vector<std::string> words = first_words(beginning);
    if (is_action(words))
        return true;
    if (words.size() != 1)
        return false;
    const fs::path listed = listed_file(path, words[0]);
    return !listed.empty() && is_action(first_words(beginning_of(listed)));
}

/// The files with actions: those that were named, and those that a list names.
std::vector<std::string> files_of(const std::vector<std::string>& named)
{
    std::vector<std::string> files;
    for (const std::string& path : named) {
        if (is_action(first_words(beginning_of(path)))) {
            files.push_back(path);
            continue;
        }
        std::ifstream list(path);
        std::string line;
        for (std::uint64_t number = 1; std::getline(list, line); ++number) {
            const std::vector<std::string> words = tit::words_of(line);
            if (words.empty())
                continue;
            const fs::path file = listed_file(path, words[0]);
            if (file.empty())
                throw ImportError(path + ":" + std::to_string(number) + ": there is no file " + words[0]);
            files.push_back(file.string());
        }
    }
    return files;
}

/// What has to be known of a process before it is imported.
struct Overview {
    std::size_t last_file = 0; ///< in which it does something
    tit::UnwaitedSends unwaited;
};
using Overviews = std::map<std::int64_t, Overview>;

Overviews find_processes(const std::vector<std::string>& files, const Import& import)
{
    Overviews overviews;
    Action action;
    for (std::size_t i = 0; i < files.size(); ++i) {
        import.progress("reading", i, files.size());
        for (ActionReader reader(files[i]); reader.next(action);) {
            Overview& overview = overviews[action.rank];
            overview.last_file = i;
            overview.unwaited.add(action);
        }
    }
    if (overviews.empty())
        throw ImportError(files.front() + ": there are no actions");
    std::int64_t rank = 0;
    for (const auto& [next, overview] : overviews) {
        if (next != rank++)
            throw ImportError(files[overview.last_file] + ": process " + std::to_string(rank - 1) +
                              " does nothing, but there is a process " + std::to_string(next));
    }
    return overviews;
}

/// How long an operation takes; 0 if that is not asked for.
double seconds_per_operation(const std::string& text)
{
    return text.empty() ? 0 : 1 / exporter::speed_of(text);
}

void import_tit(const Import& import)
{
    const std::string speed = import.option("speed");
    const double per_operation = seconds_per_operation(speed);
    const std::vector<std::string> files = files_of(import.files);
    if (files.empty())
        throw ImportError(import.files.front() + ": no file is listed");
    const Overviews overviews = find_processes(files, import);
    import.traces.set_origin("tit", "",
                             speed.empty() ? "none"
                                           : "a model: computing at " + speed +
                                                 " operations a second, communication without any time");
    std::map<std::int64_t, std::unique_ptr<Process>> processes;
    Action action;
    for (std::size_t i = 0; i < files.size(); ++i) {
        import.progress("importing", i, files.size());
        for (ActionReader reader(files[i]); reader.next(action);) {
            std::unique_ptr<Process>& process = processes[action.rank];
            if (!process)
                process = std::make_unique<Process>(import, action.rank, std::ssize(overviews), per_operation,
                                                    overviews.at(action.rank).unwaited.numbers());
            process->add(action, reader);
        }
        std::erase_if(processes, [&](const auto& one) {
            const bool is_over = overviews.at(one.first).last_file == i;
            if (is_over)
                one.second->close();
            return is_over;
        });
    }
    if (speed.empty())
        import.account.note("these traces have no times: all are 0; --speed says how long computing takes");
}

} // namespace

Source tit_source()
{
    return {"tit",
            "time-independent traces of SimGrid: the list for smpirun -replay",
            recognises,
            import_tit,
            {{"speed", "FLOPS", "operations per second of a processor, for times; otherwise all are 0"}}};
}

} // namespace hdtrace::importer
