// site_columns.h - where the program made a call or told of an event, as columns.
#pragma once

#include <optional>
#include <string>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/opened_project.h"

namespace hdtrace {

struct SiteColumns {
    OptionalNumbers site; ///< position in Project::call_sites
    Texts function, source_file;
    OptionalNumbers source_line;

    /// Calls @p see with the name and the column, one by one.
    template <class See> void for_each(See&& see)
    {
        see("site", site);
        see("function", function);
        see("source_file", source_file);
        see("source_line", source_line);
    }
};

/// The texts of such columns.
class SiteIndex {
  public:
    void add_row(SiteColumns& columns, const OpenedProject& project, std::int64_t rank, const State& state)
    {
        add_row(columns, project, project.objects.call_site(rank, state));
    }
    /// @p site is null if it is not known.
    void add_row(SiteColumns& columns, const OpenedProject& project, const CallSite* site)
    {
        const SourceFunction* const function = site ? site->function() : nullptr;
        columns.site.push(site ? std::optional<std::int64_t>(position_in(project.project.call_sites, *site))
                               : std::nullopt);
        columns.function.codes.push_back(code_of(m_functions, function ? &function->name : nullptr));
        columns.source_file.codes.push_back(code_of(m_files, function ? &function->file : nullptr));
        columns.source_line.push(function ? function->line : std::nullopt);
    }
    void add_texts(SiteColumns& columns) const
    {
        columns.function.categories = m_functions.texts();
        columns.source_file.categories = m_files.texts();
    }

  private:
    static std::int32_t code_of(TextIndex& index, const std::string* text)
    {
        return text && !text->empty() ? index.code_of(*text) : -1;
    }

    TextIndex m_functions, m_files;
};

} // namespace hdtrace
