// A directory that appears with all its files or not at all.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace hdtrace::exporter {

/// The files are written into a temporary directory beside @p path, which takes its place in commit().
/// Without commit() nothing stays.
class OutputDirectory {
  public:
    /// Throws std::system_error.
    explicit OutputDirectory(const std::string& path);
    ~OutputDirectory();
    OutputDirectory(const OutputDirectory&) = delete;
    OutputDirectory& operator=(const OutputDirectory&) = delete;

    /// Where the directory will be, from the root on.
    const std::filesystem::path& path() const { return m_path; }
    /// Where it is before commit().
    const std::filesystem::path& temporary_path() const { return m_temporary; }
    /// Throws std::system_error.
    void commit();

  private:
    std::filesystem::path m_path;
    std::filesystem::path m_temporary;
};

/// A file in it.
class DirectoryFile {
  public:
    /// Throws std::system_error, as all other functions.
    DirectoryFile(const OutputDirectory& directory, const std::string& name);

    void write(std::string_view bytes);
    void close();

  private:
    void check(bool is_fine) const;

    std::filesystem::path m_path;
    std::ofstream m_stream;
};

} // namespace hdtrace::exporter
