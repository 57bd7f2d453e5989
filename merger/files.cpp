#include "merger/files.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace hdtrace::merger {

namespace {

/// Whether @p a was seen before @p b. Records without time count as late.
bool is_earlier(const MergedFile& a, const MergedFile& b)
{
    const auto key = [](const MergedFile& file) {
        return std::make_tuple(file.time.value_or(std::numeric_limits<std::int64_t>::max()), file.size_from,
                               std::string_view(file.name));
    };
    return key(a) < key(b);
}

void take_origin(MergedFile& target, const MergedFile& source)
{
    target.name = source.name;
    target.host = source.host;
    target.initial_size = source.initial_size;
    target.size_from = source.size_from;
    target.time = source.time;
}

/// Only files of equal names, which stand behind each other, are told apart by their hosts.
void forget_needless_hosts(std::vector<MergedFile>& files)
{
    for (auto first = files.begin(); first != files.end();) {
        const auto last = std::find_if(first, files.end(),
                                       [&](const MergedFile& file) { return file.name != first->name; });
        if (last - first == 1)
            first->host.clear();
        first = last;
    }
}

} // namespace

void FileUnifier::add(std::int64_t rank, std::int64_t thread, const ProcessInfo& info)
{
    for (const auto& [id, record] : info.files) {
        const MergedFile seen{record.name, record.host, record.size, rank, record.time, {}};
        const auto [by_name, is_new] = m_by_name.try_emplace({record.name, record.host}, m_files.size());
        if (is_new) {
            m_files.push_back(seen);
            m_parent.push_back(by_name->second);
        }
        std::size_t file = root(by_name->second);
        if (!record.inode.empty())
            file = unite(file, root(m_by_inode.try_emplace(record.inode, file).first->second));
        if (is_earlier(seen, m_files[file]))
            take_origin(m_files[file], seen);
        m_files[file].uses.push_back({rank, thread, id});
    }
}

std::size_t FileUnifier::root(std::size_t file)
{
    while (m_parent[file] != file)
        file = m_parent[file] = m_parent[m_parent[file]];
    return file;
}

std::size_t FileUnifier::unite(std::size_t a, std::size_t b)
{
    if (a == b)
        return a;
    if (m_files[a].uses.size() < m_files[b].uses.size())
        std::swap(a, b);
    if (is_earlier(m_files[b], m_files[a]))
        take_origin(m_files[a], m_files[b]);
    m_files[a].uses.insert(m_files[a].uses.end(), m_files[b].uses.begin(), m_files[b].uses.end());
    m_files[b] = {};
    m_parent[b] = a;
    return a;
}

// A file that one host has on a disk of its own and others have on a shared one is one file: the host that
// serves a shared disk sees it as its own.
void FileUnifier::unite_with_shared()
{
    for (auto name = m_by_name.begin(); name != m_by_name.end(); ++name)
        if (const auto shared = m_by_name.find({name->first.first, ""}); shared != m_by_name.end())
            unite(root(name->second), root(shared->second));
}

std::vector<MergedFile> FileUnifier::take()
{
    unite_with_shared();
    std::vector<MergedFile> files;
    for (std::size_t i = 0; i < m_files.size(); ++i) {
        if (m_parent[i] != i)
            continue;
        std::ranges::sort(m_files[i].uses);
        files.push_back(std::move(m_files[i]));
    }
    std::ranges::sort(files, {}, [](const MergedFile& file) { return std::tie(file.name, file.host); });
    forget_needless_hosts(files);
    return files;
}

} // namespace hdtrace::merger
