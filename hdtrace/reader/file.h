/* file.h - bytes of a file, all of them or whole lines only. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace hdtrace::detail {

/** What an XML reader takes its bytes from. */
class ByteSource {
  public:
    virtual ~ByteSource() = default;
    /** Copies up to @p size bytes to @p target and says how many: 0 at the end or after an error. */
    virtual std::size_t read(char* target, std::size_t size) = 0;
    /** The errno of what went wrong, or 0. */
    virtual int error() const = 0;
    /** Why the bytes that follow are not handed out; empty if they are. */
    virtual std::string refusal() const { return {}; }
};

/** A file from its beginning to its end. */
class File : public ByteSource {
  public:
    /** Throws OpenError. */
    explicit File(const std::string& path);
    std::size_t read(char* target, std::size_t size) override;
    int error() const override { return m_error; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> m_file;
    int m_error = 0;
};

/** The whole lines of a file. A last line without line feed is held back, unless it ends with @p closing. */
class WholeLines : public ByteSource {
  public:
    /** Longer lines are refused: they are held in memory. */
    static constexpr std::size_t line_limit = std::size_t{256} << 20;

    WholeLines(const std::string& path, std::string closing);
    std::size_t read(char* target, std::size_t size) override;
    int error() const override { return m_file.error(); }
    std::string refusal() const override;

    /** Whether a last line was held back. Known at the end. */
    bool cut_off() const { return m_at_end && m_whole < m_buffer.size(); }

  private:
    void fill();

    File m_file;
    std::string m_closing;
    std::string m_buffer;
    std::size_t m_next = 0;  ///< the first byte that was not read yet
    std::size_t m_whole = 0; ///< behind the last whole line
    bool m_at_end = false;
    bool m_is_too_long = false;
};

} // namespace hdtrace::detail
