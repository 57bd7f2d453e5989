// The requests that a completion call was given, by their places in its array, and what became of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hdtrace/format/element.h"
#include "merger/export/dumpi/object_numbers.h"

namespace hdtrace::exporter::dumpi {

struct Status {
    std::int64_t bytes = 0;
    std::int32_t source = hdtrace::dumpi::any_source; ///< that of an empty status, as the tag
    bool is_cancelled = false;
    std::int32_t error = 0;
    std::int64_t tag = hdtrace::dumpi::any_tag;
};

struct OfferedRequest {
    Number number = hdtrace::dumpi::null_request;
    std::int64_t identity = -1;   ///< the rid; that of the request itself if it is persistent
    std::optional<Status> status; ///< if the call has completed it
};

/// Where requests stand in an array. Traces tell which ones a call was given and how many places there were,
/// but the places only of calls that complete one or all. Programs wait for the same array again and again,
/// so that the last one of this length tells the places; without that they are in the order in which the
/// requests were made.
class RequestPlaces {
  public:
    /// @p count: of the array. @p in_order: the requests are the whole array. @p index: where the first one
    /// of @p requests is, if that is known. The result has one request for each place, empty ones for null;
    /// @p places are those of @p requests.
    std::vector<OfferedRequest> arrange(std::size_t count, bool in_order, std::optional<std::size_t> index,
                                        const std::vector<OfferedRequest>& requests,
                                        std::vector<std::size_t>& places);
    /// Whether the last places are more than a guess.
    bool is_sure() const { return m_is_sure; }

  private:
    using Places = std::unordered_map<std::int64_t, std::size_t>; ///< of requests by their identities

    Places& remember(std::size_t count);
    bool place_as_before(std::size_t count, std::optional<std::size_t> index,
                         const std::vector<OfferedRequest>& requests, std::vector<std::size_t>& places) const;

    std::unordered_map<std::size_t, Places> m_last; ///< by the lengths of the arrays
    std::size_t m_remembered = 0;                   ///< how many there are in all
    bool m_is_sure = true;
};

} // namespace hdtrace::exporter::dumpi
