#include "hdtrace/tools/unfinished.h"

#include "hdtrace/tools/file_error.h"
#include "hdtrace/tools/rename_to_new.h"
#include "hdtrace/tools/signals_blocked.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace hdtrace::tools {

namespace {

/// What signal handlers remove.
std::atomic<const char*> unfinished = nullptr;
static_assert(decltype(unfinished)::is_always_lock_free);

void remove_tree(int parent, const char* name);

/// Whether there was any.
bool remove_entries(int directory)
{
    alignas(dirent64) char entries[4096];
    bool has_any = false;
    lseek(directory, 0, SEEK_SET);
    for (ssize_t size; (size = getdents64(directory, entries, sizeof entries)) > 0;) {
        for (ssize_t i = 0; i < size;) {
            const auto* entry = reinterpret_cast<const dirent64*>(entries + i);
            i += entry->d_reclen;
            if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0)
                continue;
            remove_tree(directory, entry->d_name);
            has_any = true;
        }
    }
    return has_any;
}

/// Uses only what signal handlers may use.
void remove_tree(int parent, const char* name)
{
    if (unlinkat(parent, name, 0) == 0 || errno != EISDIR)
        return;
    const int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return;
    // Some file systems skip entries when others are removed meanwhile.
    while (remove_entries(directory) && unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno == ENOTEMPTY) {
    }
    close(directory);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void remove_unfinished()
{
    if (const char* path = unfinished)
        remove_tree(AT_FDCWD, path);
}

extern "C" void end_by_signal(int signal)
{
    remove_unfinished();
    std::signal(signal, SIG_DFL);
    std::raise(signal); // so that the caller sees what ended the program
}

} // namespace

Unfinished::Unfinished(std::string place, const Make& make)
    : m_place(std::move(place)), m_path(m_place + ".XXXXXX")
{
    const SignalsBlocked until_it_is_known; // else a signal in between would leave it behind
    if (!make(m_path.data()))
        throw FileError(m_place, errno);
    unfinished = m_path.c_str();
}

Unfinished::~Unfinished()
{
    remove_unfinished();
    unfinished = nullptr;
}

void Unfinished::finish(bool overwrite)
{
    if ((overwrite ? std::rename : rename_to_new)(m_path.c_str(), m_place.c_str()) != 0)
        throw FileError(m_place, errno);
    unfinished = nullptr;
}

void handle_signals()
{
    std::signal(SIGXFSZ, SIG_IGN);
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
        if (std::signal(signal, SIG_IGN) != SIG_IGN) // nohup and shells have some ignored
            std::signal(signal, end_by_signal);
    }
}

} // namespace hdtrace::tools
