// What a command line needs that GLib parses.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <glib.h>

namespace hdtrace::tools {

/// The command line is wrong.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct FreeContext {
    void operator()(GOptionContext* context) const { g_option_context_free(context); }
};
using OptionContext = std::unique_ptr<GOptionContext, FreeContext>;

/// Takes what the parser has stored for an option; null if it was not given.
inline std::string take_text(char* given, std::string otherwise = "")
{
    std::string text = given ? given : std::move(otherwise);
    g_free(given);
    return text;
}

inline std::vector<std::string> take_texts(char** given)
{
    std::vector<std::string> texts;
    for (char** text = given; text && *text; ++text)
        texts.emplace_back(*text);
    g_strfreev(given);
    return texts;
}

/// Throws UsageError if the parser has found an error, and takes it.
inline void throw_if(GError* error)
{
    if (!error)
        return;
    const std::string message = error->message;
    g_error_free(error);
    throw UsageError(message);
}

} // namespace hdtrace::tools
