// input_folder.h - the bytes of a fuzzer as files, for readers that take paths.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace hdtrace::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size)
{
    return {reinterpret_cast<const char*>(data), size};
}

/// A folder in memory that is gone after the program.
class InputFolder {
  public:
    InputFolder()
    {
        std::string pattern = "/dev/shm/hdtrace-fuzz-XXXXXX";
        if (!mkdtemp(pattern.data()))
            std::abort();
        m_path = pattern;
    }
    ~InputFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    InputFolder(const InputFolder&) = delete;
    InputFolder& operator=(const InputFolder&) = delete;

    std::string path_of(const std::string& name) const { return m_path / name; }
    std::string write(const std::string& name, std::string_view content) const
    {
        std::ofstream(path_of(name), std::ios::binary) << content;
        return path_of(name);
    }

  private:
    std::filesystem::path m_path;
};

} // namespace hdtrace::fuzz
