// What the user has to know about the inputs. The library tells it to a sink; it never prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace hdtrace::merger {

/// A line of an input. The name belongs to the inputs, which outlive every place.
struct Place {
    std::string_view file;
    std::uint64_t line = 0; ///< 0: the file as a whole
};

std::string to_string(const Place& place);

struct Diagnostic {
    enum class Severity { warning, error };
    Severity severity;
    std::string place; ///< "file:line", "file" or empty
    std::string text;
};

/// One line for people; @p tool stands where the message has no place.
std::string to_line(const Diagnostic& message, std::string_view tool);

/// What warnings are about, in the order in which it is said how many were not passed on.
enum class Topic {
    broken_traces,
    changed_traces,
    clocks,
    communicators_with_several_names,
    communicators_without_uid,
    cut_off_lines,
    cut_off_traces,
    datatypes_without_contents,
    left_out_files,
    lost_lines,
    lost_states,
    missing_info_files,
    missing_processes,
    missing_traces,
    names_of_unknown_objects,
    old_projects,
    taken_names,
    sudden_ends,
    unfindable_traces,
    undescribed_objects,
    unknown_combiners,
    unknown_lines,
    unreadable_traces,
    unusable_object_files,
    windows_with_several_names,
    windows_without_uid,
};
std::string_view plural(Topic topic);

/// Passes diagnostics and progress on. Of many warnings on one topic only the first are passed on, the rest
/// is counted.
class Report {
  public:
    using Sink = std::function<void(const Diagnostic&)>;
    /// What is being done, how often that has been done, and how often it will have to be.
    using OnProgress = std::function<void(std::string_view doing, std::size_t done, std::size_t all)>;
    static constexpr std::size_t warnings_per_topic = 20;

    explicit Report(Sink sink, OnProgress on_progress = {})
        : m_sink(std::move(sink)), m_on_progress(std::move(on_progress))
    {
    }
    virtual ~Report() = default;

    virtual void warn(Topic topic, const Place& place, const std::string& text);
    void error(const std::string& place, const std::string& text);
    void error(const Place& place, const std::string& text) { error(to_string(place), text); }

    void progress(std::string_view doing, std::size_t done, std::size_t all) const
    {
        if (m_on_progress)
            m_on_progress(doing, done, all);
    }

    bool has_errors() const { return m_has_errors; }
    /// Says how many warnings were not passed on.
    void finish();

  private:
    Sink m_sink;
    OnProgress m_on_progress;
    std::map<Topic, std::size_t> m_warnings;
    bool m_has_errors = false;
};

} // namespace hdtrace::merger
