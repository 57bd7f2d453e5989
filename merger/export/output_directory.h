// A directory that appears with all its files or not at all.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "hdtrace/tools/unfinished.h"

namespace hdtrace::exporter {

/// The files are written into a temporary directory beside @p path, which takes its place in commit().
/// Without commit() nothing stays.
class OutputDirectory {
  public:
    /// Where only files are wanted for which others have places, something may have the directory's own.
    enum class Place { has_to_be_free, may_be_taken };

    /// Throws tools::FileError, also if anything has a place that has to be free.
    explicit OutputDirectory(const std::string& path, Place place = Place::has_to_be_free);

    /// Where the directory will be, from the root on.
    std::filesystem::path path() const { return m_directory.place(); }
    /// Where it is before commit().
    std::filesystem::path temporary_path() const { return m_directory.path(); }
    /// Throws tools::FileError, also if anything is there by now.
    void commit() { m_directory.finish(false); }

  private:
    tools::Unfinished m_directory;
};

/// A file in it.
class DirectoryFile {
  public:
    /// Throws tools::FileError, as all other functions. Of many files not all can be kept open.
    DirectoryFile(const OutputDirectory& directory, const std::string& name, bool keep_open = true);

    void write(std::string_view bytes);
    void close();

  private:
    void check(bool is_fine) const;

    std::filesystem::path m_path;
    std::filesystem::path m_temporary_path;
    bool m_keep_open;
    std::ofstream m_stream;
};

} // namespace hdtrace::exporter
