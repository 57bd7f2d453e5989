#include "merger/export/paje/sorted_links.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "merger/export/format.h"

namespace hdtrace::exporter::paje {
namespace {

[[noreturn]] void fail()
{
    throw ConvertError("messages cannot be sorted in a temporary file: " +
                       std::generic_category().message(errno));
}

} // namespace

void SortedLinks::add(const LinkEnd& end)
{
    m_ends.push_back(end);
    if (m_ends.size() >= m_most)
        spill();
}

void SortedLinks::spill()
{
    std::ranges::sort(m_ends);
    std::unique_ptr<std::FILE, Close> file(std::tmpfile());
    if (!file || std::fwrite(m_ends.data(), sizeof(LinkEnd), m_ends.size(), file.get()) != m_ends.size() ||
        std::fflush(file.get()) != 0)
        fail();
    std::rewind(file.get());
    m_runs.push_back({std::move(file), {}});
    m_ends.clear();
}

void SortedLinks::sort()
{
    std::ranges::sort(m_ends);
    std::erase_if(m_runs, [](Run& run) { return !read(run); });
}

bool SortedLinks::read(Run& run)
{
    const bool is_there = std::fread(&run.first, sizeof run.first, 1, run.file.get()) == 1;
    if (!is_there && std::ferror(run.file.get()))
        fail();
    return is_there;
}

std::optional<LinkEnd> SortedLinks::next_until(std::int64_t time)
{
    const auto run = std::ranges::min_element(m_runs, {}, &Run::first);
    const bool has_own = m_next < m_ends.size();
    const bool is_in_run = run != m_runs.end() && (!has_own || run->first < m_ends[m_next]);
    if (!is_in_run && !has_own)
        return std::nullopt;
    const LinkEnd first = is_in_run ? run->first : m_ends[m_next];
    if (first.time > time)
        return std::nullopt;
    if (!is_in_run)
        ++m_next;
    else if (!read(*run))
        m_runs.erase(run);
    return first;
}

} // namespace hdtrace::exporter::paje
