#include "merger/export/piosimhd/names.h"

namespace hdtrace::exporter::piosimhd {

std::string findable_name(std::string_view name)
{
    std::string findable;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z')
            findable += static_cast<char>(c - 'A' + 'a');
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-')
            findable += c;
    }
    if (findable.empty() || findable[0] == '-' || findable[0] == '.') // an option, a hidden file
        findable.insert(0, "x");
    return findable;
}

const std::string& FindableNames::of(const std::string& name)
{
    const auto known = m_names.find(name);
    if (known != m_names.end())
        return known->second;
    const std::string first = findable_name(name);
    std::string findable = first;
    for (int number = 2; !m_taken.insert(findable).second; ++number)
        findable = first + "-" + std::to_string(number);
    return m_names[name] = findable;
}

} // namespace hdtrace::exporter::piosimhd
