#include "hdtrace/tools/permissions.h"

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace hdtrace::tools {

namespace {

constexpr mode_t group_bits = 0070, other_bits = 0007;

/// Of new files there.
gid_t group_of_files_in(const std::filesystem::path& directory)
{
    struct stat status;
    const bool is_inherited =
        stat(directory.empty() ? "." : directory.c_str(), &status) == 0 && (status.st_mode & S_ISGID) != 0;
    return is_inherited ? status.st_gid : getegid();
}

/// What a file permits the members of the group and everybody else. Of a group that is not its own it knows
/// no more than of everybody.
mode_t permitted(const struct stat& file, gid_t group)
{
    const mode_t others = file.st_mode & other_bits;
    return others | (file.st_gid == group ? file.st_mode & group_bits : others << 3);
}

} // namespace

CommonPermissions::CommonPermissions(const std::string& output)
    : m_group(group_of_files_in(std::filesystem::path(output).parent_path()))
{
}

void CommonPermissions::add(const std::string& file)
{
    struct stat status;
    if (stat(file.c_str(), &status) == 0)
        m_mode &= permitted(status, m_group);
}

void CommonPermissions::restrict_umask() const
{
    const mode_t search = (m_mode & 0044) >> 2; // of directories: whoever may read may search
    umask(umask(0) | (0077 & ~(m_mode | search)));
}

void take_permissions(int descriptor, const std::string& from)
{
    struct stat original, file;
    if (stat(from.c_str(), &original) != 0)
        return;
    // The owner is not ours to give, unless we are root; a group may be.
    if (fchown(descriptor, original.st_uid, original.st_gid) != 0)
        (void)!fchown(descriptor, -1, original.st_gid);
    if (fstat(descriptor, &file) == 0)
        fchmod(descriptor, (original.st_mode & 0700) | permitted(original, file.st_gid));
}

} // namespace hdtrace::tools
