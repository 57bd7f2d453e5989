// permissions.h - who may read what is made of a trace: nobody who may not read the trace.
#pragma once

#include <string>
#include <sys/types.h>

namespace hdtrace::tools {

/// What the files that were added permit, all of them, to others than their owners.
class CommonPermissions {
  public:
    /// For a file or directory that will be made at @p output: it has a group already.
    explicit CommonPermissions(const std::string& output);

    /// A file that is missing changes nothing.
    void add(const std::string& file);
    bool permit_nothing() const { return m_mode == 0; }
    /// What this process makes from now on permits no more.
    void restrict_umask() const;

  private:
    gid_t m_group;
    mode_t m_mode = 0066;
};

/// Gives an open file the owner, the group and the mode of another one, as far as this process may: it never
/// permits more.
void take_permissions(int descriptor, const std::string& from);

} // namespace hdtrace::tools
