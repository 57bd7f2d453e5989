// input_folder.h - the bytes of a fuzzer as files, for readers that take paths.
#pragma once

#include <algorithm>
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

/// What comes before the next line `%%`, which is removed with it.
inline std::string_view take_part(std::string_view& text)
{
    constexpr std::string_view separator = "\n%%\n";
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + separator.size()));
    return part;
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
