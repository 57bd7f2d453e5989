#include "merger/upkeep/trace_form.h"

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/node_file.h"
#include "hdtrace/format/trace_compressor.h"
#include "hdtrace/format/writing_process.h"
#include "hdtrace/segments.h"
#include "hdtrace/tools/file_error.h"
#include "merger/trace_name.h"
#include "merger/upkeep/file_descriptor.h"
#include "merger/upkeep/record_compressor.h"
#include "merger/upkeep/temporary_file.h"
#include "merger/upkeep/upkeep_error.h"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace hdtrace::merger {

namespace {

constexpr std::size_t read_at_once = 1 << 20;

struct stat status_of(const std::string& path)
{
    struct stat status;
    if (stat(path.c_str(), &status) != 0)
        throw OpenError(path, errno);
    return status;
}

/// The text of a file from its beginning to its end. Throws where some of it cannot be had.
class WholeText {
  public:
    explicit WholeText(std::string path)
        : m_path(std::move(path)), m_file(m_path), m_buffer(read_at_once, '\0')
    {
    }

    /// The next part; empty at the end.
    std::string_view next()
    {
        const std::size_t size = m_file.read(m_buffer.data(), m_buffer.size());
        if (size == m_buffer.size())
            return m_buffer;
        if (m_file.error() != 0)
            throw OpenError(m_path, m_file.error());
        if (const std::string refusal = m_file.refusal(); !refusal.empty())
            throw UpkeepError(m_path + ": " + refusal);
        return std::string_view(m_buffer).substr(0, size);
    }

  private:
    std::string m_path;
    detail::File m_file;
    std::string m_buffer;
};

bool have_same_text(const std::string& one, const std::string& other)
{
    WholeText first(one), second(other);
    for (;;) {
        const std::string_view text = first.next();
        if (text != second.next())
            return false;
        if (text.empty())
            return true;
    }
}

void write_in_form(const std::string& from, Compression form, TemporaryFile& to, const ByteProgress& progress)
{
    std::optional<TraceCompressor> compressor;
    if (form != Compression::none)
        compressor.emplace(form, [&](std::string_view bytes) { to.write(bytes); });
    WholeText text(from);
    for (std::string_view part; !(part = text.next()).empty();) {
        if (compressor)
            compressor->write(part);
        else
            to.write(part);
        progress(static_cast<std::int64_t>(part.size()));
    }
    if (compressor)
        compressor->close();
}

[[noreturn]] void refuse_what_is_written(const std::string& trace)
{
    throw UpkeepError(trace + ": this is being written; wait until the run has ended");
}

/// Its process may rest for a long time in which the file does not change.
void check_run_has_ended(const std::string& trace)
{
    if (detail::is_being_written(detail::info_of_trace(trace)))
        refuse_what_is_written(trace);
}

bool is_unchanged(const struct stat& before, const struct stat& now)
{
    return before.st_size == now.st_size && before.st_mtim.tv_sec == now.st_mtim.tv_sec &&
           before.st_mtim.tv_nsec == now.st_mtim.tv_nsec;
}

/// Throws if it has another text than that from which it was made, or that was written meanwhile.
void check_copy(const std::string& from, const struct stat& before, const TemporaryFile& copy)
{
    if (!have_same_text(from, copy.path()))
        throw UpkeepError(from + ": it reads otherwise in its new form");
    if (!is_unchanged(before, status_of(from)))
        refuse_what_is_written(from);
}

/// Makes @p to, unless it is there with the same text, as after an end of the command in between.
void make(const std::string& from, const std::string& to, Compression form, const ByteProgress& progress)
{
    if (struct stat there; lstat(to.c_str(), &there) == 0) {
        if (!S_ISREG(there.st_mode) || !have_same_text(from, to))
            throw UpkeepError(to + ": this is there already, and something else than " + from);
        return;
    }
    const struct stat before = status_of(from);
    TemporaryFile file(to);
    write_in_form(from, form, file, progress);
    check_copy(from, before, file);
    file.take_place_with(from);
}

/// The same file of a trace, with its records compressed. Nothing is done where they are.
FormSizes compress_compact(const std::string& trace, const std::string& path, const ByteProgress& progress)
{
    const struct stat before = status_of(path);
    TemporaryFile file(path);
    if (!compress_records(path, file, progress))
        return {};
    check_copy(path, before, file);
    check_run_has_ended(trace);
    file.replace();
    return {before.st_size, status_of(path).st_size};
}

int open_to_lock(const std::string& path)
{
    const int number = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY); // as NFS wants it
    return number >= 0 ? number : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/// Keeps other commands away from a file as long as it lives, where the file system has locks. The tracer
/// asks for locks of .info files only.
class AtWork {
  public:
    explicit AtWork(const std::string& path) : m_file(path, open_to_lock(path))
    {
        struct stat locked;
        const bool is_taken = flock(m_file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        m_file.check(fstat(m_file.number(), &locked));
        if (is_taken || status_of(path).st_ino != locked.st_ino) // another one may be there by now
            throw UpkeepError(path + ": another command is at work with this");
    }

  private:
    FileDescriptor m_file;
};

/// Readers wait for what is written into a pipe. It has no other form, and its end may never come.
void check_is_regular(const std::string& path)
{
    if (!S_ISREG(status_of(path).st_mode))
        throw UpkeepError(path + ": this is not a regular file");
}

bool has_file(const std::string& path)
{
    struct stat status;
    return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// The files of a trace and what is behind its name in theirs; the first one, by which readers find the
/// others, comes first.
std::vector<std::pair<std::string, std::string>> segments_in(const std::string& trace)
{
    std::vector<std::pair<std::string, std::string>> files = {{trace, ""}};
    for (int i = 1; i < segment_count; ++i) {
        const std::string number = "." + std::to_string(i);
        if (struct stat status; stat((trace + number).c_str(), &status) == 0 && S_ISREG(status.st_mode))
            files.emplace_back(trace + number, number);
    }
    return files;
}

} // namespace

FormSizes change_form(const std::string& trace, Compression form, const ByteProgress& progress)
{
    const std::string now = detail::existing_name(trace);
    const std::string wanted = std::string(detail::plain_name(now)) + suffix_of(form);
    const bool is_compact = now.ends_with(suffix_of(Compression::compact));
    if (now == wanted || (is_compact && form == Compression::gzip)) // it is small already
        return {};
    if (detail::is_in_node_file(now))
        throw UpkeepError(
            now + ": this is in a node file: 'hdtrace split' makes files of their own of those in it");
    check_is_regular(now);
    check_run_has_ended(now);
    const AtWork at_work(now);
    const auto at_work_there = has_file(wanted) ? std::make_unique<AtWork>(wanted) : nullptr;
    FormSizes sizes;
    const auto files = segments_in(now);
    if (is_compact && form == Compression::zstd) {
        for (const auto& [file, number] : files) {
            const FormSizes changed = compress_compact(now, file, progress);
            sizes.before += changed.before;
            sizes.after += changed.after;
        }
        sync_folder(std::string(directory_of(now)));
        return sizes;
    }
    for (const auto& [file, number] : files) {
        make(file, wanted + number, form, progress);
        sizes.before += status_of(file).st_size;
        sizes.after += status_of(wanted + number).st_size;
    }
    sync_folder(std::string(directory_of(wanted)));
    check_run_has_ended(now);
    for (const auto& [file, number] : files) {
        if (unlink(file.c_str()) != 0)
            throw tools::FileError(file, errno);
    }
    return sizes;
}

} // namespace hdtrace::merger
