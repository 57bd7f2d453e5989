// Files of a few lines for the tests of the readers.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "hdtrace/format/trc_reader.h"

namespace hdtrace::test {

/// A folder that is gone after the test.
class TemporaryFolder {
  public:
    TemporaryFolder() : m_path(make_folder()) {}
    ~TemporaryFolder() { std::filesystem::remove_all(m_path); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path_of(const std::string& name) const { return (m_path / name).string(); }
    std::string write(const std::string& name, std::string_view content) const
    {
        std::ofstream(m_path / name, std::ios::binary) << content;
        return path_of(name);
    }

  private:
    static std::filesystem::path make_folder()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "hdtrace-XXXXXX").string();
        return mkdtemp(pattern.data());
    }

    std::filesystem::path m_path;
};

/// A file in a folder of its own, which is gone after the test.
class TemporaryFile {
  public:
    TemporaryFile(const std::string& name, std::string_view content) : m_path(m_folder.write(name, content))
    {
    }

    const std::string& path() const { return m_path; }

  private:
    TemporaryFolder m_folder;
    std::string m_path;
};

/// What a reader found in a whole trace.
struct Outcome {
    std::vector<State> states;
    bool complete = false;
    std::string missing;
};

inline Outcome read_all(TrcReader& reader)
{
    Outcome outcome;
    State state;
    while (reader.next(state))
        outcome.states.push_back(state);
    outcome.complete = reader.complete();
    outcome.missing = reader.missing();
    return outcome;
}

} // namespace hdtrace::test
