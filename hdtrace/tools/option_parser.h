// option_parser.h - command lines. Nothing is printed here and nothing ends the program.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <glib.h>

namespace hdtrace::tools {

/// The command line is wrong.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What the user asked for instead of the tool's work: its help or its version.
struct Answer {
    std::string text;
};

/// What a command line says is to be done.
template <class Options> using Request = std::variant<Options, Answer>;

/// The options of a tool, which are declared one by one; --help and --version come with it. Names and helps
/// are literals. All texts are taken as file names, so that the locale does not matter.
class OptionParser {
  public:
    /// @p summary and @p description stand in the help before and behind the options.
    OptionParser(std::string tool, std::string summary, std::string description = {});

    /// An option with a value, which the help calls @p value. @p letter: 0 if there is no short form. The
    /// target keeps what it holds if the option is not given.
    void add_text(const char* name, char letter, std::string& target, const char* value, const char* help)
    {
        add_text(name, letter, target, value, help, false);
    }
    /// One whose value may be empty, too; that of others is refused, since a script has lost it.
    void add_free_text(const char* name, char letter, std::string& target, const char* value,
                       const char* help)
    {
        add_text(name, letter, target, value, help, true);
    }
    /// An option without a value.
    void add_switch(const char* name, char letter, bool& target, const char* help);
    /// What is no option.
    void add_inputs(std::vector<std::string>& target, const char* value);

    /// Fills the targets. Throws UsageError. The answer if the user asks for one.
    std::optional<Answer> parse(int argc, char** argv);

  private:
    struct Text {
        std::string& target;
        const char* name;
        bool may_be_empty;
        char* given = nullptr;
    };
    struct Switch {
        bool& target;
        gboolean is_given = FALSE;
    };
    struct Inputs {
        std::vector<std::string>& target;
        char** given = nullptr;
    };
    struct FreeContext {
        void operator()(GOptionContext* context) const { g_option_context_free(context); }
    };
    using Context = std::unique_ptr<GOptionContext, FreeContext>;

    void add_text(const char* name, char letter, std::string& target, const char* value, const char* help,
                  bool may_be_empty);
    Context make_context(void* group_data, const std::vector<GOptionEntry>& more_entries) const;
    std::string help(const GOptionEntry& version) const;
    const Text* empty_text() const;
    void fill_targets();

    std::string m_tool;
    std::string m_summary;
    std::string m_description;
    std::vector<GOptionEntry> m_entries;
    std::deque<Text> m_texts; // GLib keeps pointers into these
    std::deque<Switch> m_switches;
    std::deque<Inputs> m_inputs;
};

} // namespace hdtrace::tools
