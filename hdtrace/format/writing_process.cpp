#include "hdtrace/format/writing_process.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/packed_file.h"

namespace hdtrace::detail {

namespace {

/// "<base>_<host>_<rank>_<thread>"
bool names_thread(std::string_view stem)
{
    return std::ranges::count(stem.substr(stem.rfind('/') + 1), '_') >= 3;
}

} // namespace

std::string info_of_trace(const std::string& trace)
{
    constexpr std::string_view extension = ".info";
    const std::string_view plain = plain_name(trace);
    const std::string stem(plain.substr(0, plain.rfind('.')));
    if (std::string own = std::string(stem).append(extension); is_file(own))
        return own;
    if (!names_thread(stem))
        return {};
    std::string first = stem.substr(0, stem.rfind('_') + 1).append("0").append(extension);
    return is_file(first) ? first : std::string();
}

// Only asked for: a process that begins must not meet a lock of ours.
bool is_being_written(const std::string& info)
{
    const int descriptor = open(info.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int error = descriptor < 0 ? errno : 0;
    if (error == ENOENT || error == ENOTDIR)
        return lives_in_node_file(info);
    if (error != 0) // it may be there, and its process may live
        throw OpenError(info, error);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const bool is_answered = fcntl(descriptor, F_GETLK, &lock) == 0;
    close(descriptor);
    return is_answered && lock.l_type != F_UNLCK;
}

} // namespace hdtrace::detail
