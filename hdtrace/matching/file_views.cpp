#include "hdtrace/matching/file_views.h"

namespace hdtrace {

void FileViews::follow(const Call& call, const ProjectFile& file)
{
    if (call.has_failed())
        return;
    const auto key = std::pair(call.trace.rank, &file);
    const bool opens = call.facts.makes == ObjectKind::file, closes = call.facts.frees == ObjectKind::file;
    m_open.follow(call, file);
    const std::int64_t handles = m_open.handles(call.trace.rank, file);
    if ((opens && handles == 1) || (closes && handles == 0))
        m_views.erase(key);
    else if (const auto set = m_views.find(key); opens && set != m_views.end())
        set->second.reset();
    if (call.facts.file != FileAccess::view)
        return;
    std::optional<FileView>& view = m_views[key];
    view.reset();
    if (handles > 1)
        return;
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
