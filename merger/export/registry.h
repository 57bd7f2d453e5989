// What the formats to convert to and those to import from have in common: each has a name, a description and
// options of its own.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/tools/option_parser.h"

namespace hdtrace::exporter {

/// Null if there is none of this name.
template <class Format> const Format* find_named(const std::vector<Format>& formats, std::string_view name)
{
    const auto found = std::ranges::find(formats, name, &Format::name);
    return found == formats.end() ? nullptr : &*found;
}

template <class Format> std::string names_of(const std::vector<Format>& formats)
{
    std::string names;
    for (const Format& format : formats)
        names += (names.empty() ? "" : ", ") + std::string(format.name);
    return names;
}

/// For --help.
template <class Format> std::string descriptions_of(const std::vector<Format>& formats)
{
    std::string text = "Formats:";
    for (const Format& format : formats)
        text += "\n  " + std::string(format.name) + ": " + std::string(format.description);
    return text;
}

using GivenOptions = std::map<std::string, std::string, std::less<>>;

/// The options of all formats on a command line.
class FormatOptions {
  public:
    template <class Format> explicit FormatOptions(const std::vector<Format>& formats)
    {
        for (const Format& format : formats)
            for (const auto& option : format.options)
                m_options.push_back(
                    {option.name, option.value, std::string(format.name) + ": " + option.help});
    }

    void add_to(tools::OptionParser& parser)
    {
        for (Option& option : m_options)
            parser.add_text(option.name, 0, option.text, option.value, option.help.c_str());
    }

    GivenOptions given() const
    {
        GivenOptions given;
        for (const Option& option : m_options)
            if (!option.text.empty())
                given.emplace(option.name, option.text);
        return given;
    }

  private:
    struct Option {
        const char* name;
        const char* value;
        std::string help;
        std::string text = {}; ///< what was given for it
    };

    std::deque<Option> m_options; // they must not move
};

/// Throws UsageError if an option of another format was given.
template <class Format> void check_options(const Format& format, const GivenOptions& given)
{
    for (const auto& [name, text] : given) {
        const auto is_it = [&](const auto& option) { return option.name == name; };
        if (std::ranges::none_of(format.options, is_it))
            throw tools::UsageError("--" + name + " is no option of " + std::string(format.name));
    }
}

} // namespace hdtrace::exporter
