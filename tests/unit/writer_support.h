// What the tests of the trace library share.
#pragma once

#include "hdtrace/writer/element.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace hdtrace::test {

/// A directory for one test, which is gone after it.
class TemporaryDirectory {
  public:
    TemporaryDirectory()
    {
        std::string name = (std::filesystem::temp_directory_path() / "hdtrace-test-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("cannot create " + name);
        m_path = name;
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(m_path); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    std::string file(const std::string& name) const { return (m_path / name).string(); }
    std::string path() const { return m_path.string(); }

  private:
    std::filesystem::path m_path;
};

inline std::string content_of(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
        throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Every time as 'T', every start of the time axis as S.
inline std::string without_times(const std::string& text)
{
    const std::string times = std::regex_replace(text, std::regex("'[0-9]+\\.[0-9]{9}'"), "'T'");
    return std::regex_replace(times, std::regex("timeAdjustment=('?)[0-9]+"), "timeAdjustment=$1S");
}

inline size_t occurrences(const std::string& text, const std::string& part)
{
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
        ++count;
    return count;
}

/// How many states are in the file.
inline int64_t states_in_file(const TraceWriter& writer)
{
    return writer.states() - writer.dropped_states();
}

constexpr int64_t base_second = 1'700'000'000;
constexpr int64_t second = nanoseconds_per_second;
const std::string head = "<?xml version='1.0' encoding='UTF-8'?>\n"
                         "<Program timeAdjustment='1700000000' version='1' rank='0' thread='0'>\n";
const std::string footer = "</Program>\n";

constexpr ShortText no_site = {};

/// A trace in a temporary directory, with times relative to its beginning.
class Trace {
  public:
    explicit Trace(const TraceSettings& settings = {}, InfoWriter* info = nullptr) { open(settings, info); }

    void begin() { writer.enter(); }
    /// A state that can be seen before it ends. @p form is not copied; @p begin_time counts from the epoch.
    void begin(
        const StateForm& form, int64_t begin_time,
        const std::function<void(OpenState&)>& set_arguments = [](OpenState&) {})
    {
        OpenState& state = writer.next_state();
        state.start(&form, 0);
        state.set_site(no_site);
        set_arguments(state);
        writer.enter(state, begin_time);
    }
    void begin(const char* name, int64_t begin_time)
    {
        static std::map<std::string, StateForm> forms;
        begin(forms.emplace(name, StateForm{name}).first->second, begin_time);
    }
    void end(const char* name, int64_t begin_time, int64_t end_time)
    {
        write_element(writer, [=](auto& element) {
            element.text("<").name(name);
            element.times(base_second * second + begin_time, base_second * second + end_time).end(name);
        });
    }
    void state(const char* name, int64_t begin_time = 0, int64_t end_time = 1)
    {
        begin();
        end(name, begin_time, end_time);
    }
    /// A state whose line is longer than @p size bytes.
    void long_state(size_t size)
    {
        begin();
        write_element(writer, [=](auto& element) {
            element.text("<Long text='").escaped(std::string(size, 'x').c_str()).text("'");
            element.times(base_second * second, base_second * second).end("Long");
        });
    }
    void event(const char* name, int64_t time)
    {
        begin();
        write_element(writer, [=](auto& element) {
            element.text("<Event name='").escaped(name).text("'").end_event(base_second * second + time);
        });
    }

    std::string path() const { return m_directory.file("a_h_0_0.trc"); }
    std::string content() const { return content_of(path()); }
    /// The closed trace without its constant parts.
    std::string lines()
    {
        EXPECT_EQ(writer.close(), 0);
        const std::string text = content();
        EXPECT_EQ(text.substr(0, head.size()), head);
        EXPECT_EQ(text.substr(text.size() - footer.size()), footer);
        return text.substr(head.size(), text.size() - head.size() - footer.size());
    }

    TraceWriter writer;

  private:
    void open(const TraceSettings& settings, InfoWriter* info)
    {
        EXPECT_EQ(writer.open(path().c_str(), "rank='0' thread='0'", base_second, settings, info), 0);
    }

    TemporaryDirectory m_directory;
};

inline std::string state_line(const std::string& name, const std::string& begin = "0.000000000",
                              const std::string& end = "0.000000001")
{
    return "<" + name + " time='" + begin + "' end='" + end + "' />";
}

} // namespace hdtrace::test
