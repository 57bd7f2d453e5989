#include "hdtrace/format/name_list.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace hdtrace::detail {
namespace {

// More than the elements of a format need, and little memory even if a file has only nonsense.
constexpr std::size_t most_shared_lists = 20'000;
constexpr std::size_t most_shared_names = 64;
constexpr std::size_t longest_shared_name = 64;

/// All but the empty one, by the list without the last name, and that name.
struct SharedLists {
    std::mutex mutex;
    std::map<std::pair<const NameList*, std::string>, std::unique_ptr<NameList>> lists;
};

SharedLists& shared_lists()
{
    static auto& lists = *new SharedLists; // also for what runs at the end of the program
    return lists;
}

} // namespace

const NameList& NameList::empty()
{
    static const NameList* const list = [] {
        auto* const made = new NameList;
        made->m_is_shared = true;
        return made;
    }();
    return *list;
}

const NameList& NameList::first(std::size_t count) const
{
    const NameList* list = this;
    while (list->size() > count)
        list = list->m_shorter ? list->m_shorter : &empty();
    return *list;
}

const NameList* NameList::with(std::string_view name) const
{
    const NameList* const last = m_last_with.load(std::memory_order_acquire);
    if (last && (*last)[size()] == name)
        return last;
    if (size() == most_shared_names || name.size() > longest_shared_name)
        return nullptr;
    SharedLists& shared = shared_lists();
    const std::lock_guard lock(shared.mutex);
    std::pair key(this, std::string(name));
    auto found = shared.lists.find(key);
    if (found == shared.lists.end()) {
        if (shared.lists.size() == most_shared_lists)
            return nullptr;
        auto longer = std::make_unique<NameList>(*this);
        longer->add(name);
        longer->m_shorter = this;
        longer->m_is_shared = true;
        found = shared.lists.emplace(std::move(key), std::move(longer)).first;
    }
    m_last_with.store(found->second.get(), std::memory_order_release);
    return found->second.get();
}

void NameList::add(std::string_view name)
{
    const NameKey key = key_of_name(name);
    const auto position = static_cast<Position>(m_names.size());
    m_names.push_back({.key = key, .text = std::string(name)});
    m_bits |= bit_of_key(key);
    Position* next = &m_first[slot_of_key(key)];
    while (*next != none) // the first of equal names is found
        next = &m_names[*next].next_in_slot;
    *next = position;
}

void ElementNames::set(const NameList& shared)
{
    if (!m_list->is_shared())
        delete m_list;
    m_list = &shared;
}

void ElementNames::add(std::string_view name)
{
    if (const NameList* const longer = m_list->is_shared() ? m_list->with(name) : nullptr)
        return set(*longer);
    auto own = m_list->is_shared() ? std::make_unique<NameList>(*m_list) : nullptr;
    NameList& list = own ? *own : const_cast<NameList&>(*m_list); // which is only this element's
    list.add(name);
    if (own)
        m_list = own.release();
}

} // namespace hdtrace::detail
