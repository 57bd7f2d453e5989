// unfinished.h - a file or directory that is at its place only once it is whole.
#pragma once

#include <functional>
#include <string>

namespace hdtrace::tools {

/// A new file or directory beside its place. There may be one at a time.
class Unfinished {
  public:
    /// Makes it under a name that it fills in for the XXXXXX at the end, as mkstemp and mkdtemp do; false if
    /// it failed, with the reason in errno.
    using Make = std::function<bool(char* name)>;

    /// Throws FileError, which names @p place.
    Unfinished(std::string place, const Make& make);
    /// Removes it, unless it was finished.
    ~Unfinished();
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;

    const std::string& place() const { return m_place; }
    /// Where it is until then.
    const std::string& path() const { return m_path; }

    /// Puts it in its place. Throws FileError, also if anything is there and @p overwrite does not let it
    /// take the place of that.
    void finish(bool overwrite);

  private:
    std::string m_place;
    std::string m_path;
};

/// What is unfinished is removed also if SIGHUP, SIGINT or SIGTERM ends the program. A file that may not grow
/// any more is an error like others, instead of a signal.
void handle_signals();

} // namespace hdtrace::tools
