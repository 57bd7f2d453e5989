#include "hdtrace/tools/option_parser.h"

#include <algorithm>
#include <utility>

namespace hdtrace::tools {

namespace {

/// GLib's own --help would end the program.
gboolean note_help(const char*, const char*, void* is_wanted, GError**)
{
    *static_cast<bool*>(is_wanted) = true;
    return TRUE;
}

/// Null is no error.
std::optional<std::string> take_text(GError* error)
{
    if (error == nullptr)
        return {};
    std::string text = error->message;
    g_error_free(error);
    return text;
}

} // namespace

OptionParser::OptionParser(std::string tool, std::string summary, std::string description)
    : m_tool(std::move(tool)), m_summary(std::move(summary)), m_description(std::move(description))
{
}

void OptionParser::add_text(const char* name, char letter, std::string& target, const char* value,
                            const char* help, bool may_be_empty)
{
    Text& text = m_texts.emplace_back(target, name, may_be_empty);
    m_entries.push_back({name, letter, 0, G_OPTION_ARG_FILENAME, &text.given, help, value});
}

void OptionParser::add_switch(const char* name, char letter, bool& target, const char* help)
{
    Switch& option = m_switches.emplace_back(target);
    m_entries.push_back({name, letter, 0, G_OPTION_ARG_NONE, &option.is_given, help, nullptr});
}

void OptionParser::add_inputs(std::vector<std::string>& target, const char* value)
{
    Inputs& inputs = m_inputs.emplace_back(target);
    m_entries.push_back(
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &inputs.given, nullptr, value});
}

OptionParser::Context OptionParser::make_context(void* group_data,
                                                 const std::vector<GOptionEntry>& more_entries) const
{
    std::vector<GOptionEntry> entries = m_entries;
    entries.insert(entries.end(), more_entries.begin(), more_entries.end());
    entries.push_back({}); // the end
    Context context(g_option_context_new(nullptr));
    g_option_context_set_summary(context.get(), m_summary.c_str());
    if (!m_description.empty())
        g_option_context_set_description(context.get(), m_description.c_str());
    GOptionGroup* group = g_option_group_new(nullptr, nullptr, nullptr, group_data, nullptr);
    g_option_group_add_entries(group, entries.data());
    g_option_context_set_main_group(context.get(), group);
    return context;
}

/// As GLib would print it.
std::string OptionParser::help(const GOptionEntry& version) const
{
    const Context context = make_context(nullptr, {version});
    char* text = g_option_context_get_help(context.get(), TRUE, nullptr);
    std::string help = text;
    g_free(text);
    return help;
}

std::optional<Answer> OptionParser::parse(int argc, char** argv)
{
    bool wants_help = false;
    gboolean wants_version = FALSE;
    const GOptionEntry version = {
        "version", 0, 0, G_OPTION_ARG_NONE, &wants_version, "Show the version and exit", nullptr};
    const auto help_entry = [](const char* name, char letter) {
        return GOptionEntry{name,
                            letter,
                            G_OPTION_FLAG_HIDDEN | G_OPTION_FLAG_NO_ARG,
                            G_OPTION_ARG_CALLBACK,
                            reinterpret_cast<void*>(&note_help),
                            nullptr,
                            nullptr};
    };
    const Context context =
        make_context(&wants_help, {version, help_entry("help", 'h'), help_entry("help-all", '?')});
    g_option_context_set_help_enabled(context.get(), FALSE);
    GError* error = nullptr;
    g_option_context_parse(context.get(), &argc, &argv, &error);
    const Text* const empty = empty_text();
    fill_targets();
    const std::optional<std::string> problem = take_text(error);
    if (wants_help)
        return Answer{help(version)};
    if (problem)
        throw UsageError(*problem);
    if (wants_version)
        return Answer{m_tool + " (hdtrace) " HDTRACE_VERSION "\n"};
    if (empty)
        throw UsageError("the value of --" + std::string(empty->name) + " is empty");
    return {};
}

/// An option that lacks its value; null if none does.
const OptionParser::Text* OptionParser::empty_text() const
{
    const auto found = std::ranges::find_if(
        m_texts, [](const Text& text) { return text.given && *text.given == '\0' && !text.may_be_empty; });
    return found == m_texts.end() ? nullptr : &*found;
}

/// GLib gives nothing where it found an error.
void OptionParser::fill_targets()
{
    for (Text& text : m_texts) {
        if (text.given)
            text.target = text.given;
        g_free(std::exchange(text.given, nullptr));
    }
    for (const Switch& option : m_switches)
        option.target = option.target || option.is_given;
    for (Inputs& inputs : m_inputs) {
        for (char** input = inputs.given; input && *input; ++input)
            inputs.target.emplace_back(*input);
        g_strfreev(std::exchange(inputs.given, nullptr));
    }
}

} // namespace hdtrace::tools
