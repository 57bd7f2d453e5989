#include "merger/export/dumpi/offered_requests.h"

#include <algorithm>
#include <numeric>

namespace hdtrace::exporter::dumpi {
namespace {

/// In the order in which they were made, on the first places that are free.
void place_in_order(std::size_t count, std::optional<std::size_t> index,
                    const std::vector<OfferedRequest>& requests, std::vector<std::size_t>& places)
{
    std::vector<std::size_t> order(requests.size());
    std::iota(order.begin(), order.end(), 0);
    if (index)
        order.erase(order.begin());
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return requests[i].identity; });
    places.assign(requests.size(), 0);
    if (index)
        places[0] = *index;
    std::size_t place = 0;
    for (const std::size_t i : order) {
        place += index && place == *index && place + 1 < count;
        places[i] = place++;
    }
}

} // namespace

std::vector<OfferedRequest> RequestPlaces::arrange(std::size_t count, bool in_order,
                                                   std::optional<std::size_t> index,
                                                   const std::vector<OfferedRequest>& requests,
                                                   std::vector<std::size_t>& places)
{
    if (index && (requests.empty() || *index >= count))
        index.reset();
    in_order = in_order && requests.size() == count;
    m_is_sure = in_order || place_as_before(count, index, requests, places);
    if (in_order) {
        places.resize(count);
        std::iota(places.begin(), places.end(), 0);
    } else if (!m_is_sure) {
        place_in_order(count, index, requests, places);
        m_is_sure = requests.empty() || (requests.size() == count && (index || count == 1));
    }
    std::vector<OfferedRequest> arranged(count);
    Places& last = remember(count);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        arranged[places[i]] = requests[i];
        last[requests[i].identity] = places[i];
    }
    return arranged;
}

RequestPlaces::Places& RequestPlaces::remember(std::size_t count)
{
    constexpr std::size_t most = 1 << 20;
    if (m_remembered > most) {
        m_last.clear();
        m_remembered = 0;
    }
    const auto [last, is_new] = m_last.try_emplace(count);
    m_remembered += is_new ? count + 1 : 0;
    last->second.clear();
    return last->second;
}

bool RequestPlaces::place_as_before(std::size_t count, std::optional<std::size_t> index,
                                    const std::vector<OfferedRequest>& requests,
                                    std::vector<std::size_t>& places) const
{
    const auto last = m_last.find(count);
    if (last == m_last.end() || requests.empty())
        return false;
    places.clear();
    for (const OfferedRequest& request : requests) {
        const auto place = last->second.find(request.identity);
        if (place == last->second.end() || request.identity < 0)
            return false;
        places.push_back(place->second);
    }
    return !index || places[0] == *index;
}

} // namespace hdtrace::exporter::dumpi
