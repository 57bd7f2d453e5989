#include "hdtrace/writer/descriptor.h"

#include <fcntl.h>
#include <initializer_list>
#include <sys/resource.h>
#include <unistd.h>

namespace hdtrace {

namespace {

constexpr int lowest_descriptor = 400;

} // namespace

int move_up(int descriptor)
{
    // The limit on descriptors may be low. Standard input, output and error are never ours.
    for (const int lowest : {lowest_descriptor, 3}) {
        const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
        if (moved >= 0) {
            ::close(descriptor);
            return moved;
        }
    }
    return descriptor;
}

bool is_scarce(int descriptor)
{
    rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(descriptor) >= limit.rlim_cur / 2;
}

void make_room_for_descriptors()
{
    const int descriptor = ::open("/", O_PATH | O_CLOEXEC);
    if (descriptor >= 0)
        ::close(move_up(descriptor));
}

} // namespace hdtrace
