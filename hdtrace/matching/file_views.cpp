#include "hdtrace/matching/file_views.h"

namespace hdtrace {

void FileViews::follow(const Call& call, const ProjectFile& file)
{
    if (call.facts.makes == ObjectKind::file)
        m_views.erase({call.trace.rank, &file});
    if (call.facts.file != FileAccess::view || call.has_failed())
        return;
    std::optional<FileView>& view = m_views[{call.trace.rank, &file}];
    view.reset();
    const std::int64_t filetype = call.state.integer("filetid").value_or(-1);
    if (const MappedType* const type = m_types.find_possible(call.trace.rank, filetype))
        view = FileView(call.state.integer("offset").value_or(0), *type);
}

const FileView* FileViews::find(std::int64_t rank, const ProjectFile& file) const
{
    static const FileView whole;
    const auto found = m_views.find({rank, &file});
    if (found == m_views.end())
        return &whole;
    return found->second && found->second->is_regular() ? &*found->second : nullptr;
}

} // namespace hdtrace
