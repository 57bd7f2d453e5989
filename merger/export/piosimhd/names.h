// Names that both generations of the original readers find in a project and in the names of files.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace hdtrace::exporter::piosimhd {

/// Both leave out what is no letter of ASCII, digit, dot or minus when they look for a trace, and the older
/// one makes letters small.
std::string findable_name(std::string_view name);

/// Different names for different ones.
class FindableNames {
  public:
    const std::string& of(const std::string& name);

  private:
    std::map<std::string, std::string, std::less<>> m_names;
    std::set<std::string> m_taken;
};

} // namespace hdtrace::exporter::piosimhd
