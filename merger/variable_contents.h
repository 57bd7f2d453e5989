// What the bytes of variables are.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::merger {

/// Of something that is nothing but equal things one after the other. What is not known is empty or 0.
struct Contents {
    std::string_view of;   ///< if they are basic values: what those are
    std::int64_t each = 0; ///< the bytes of one
    std::string members;   ///< if they are structs: what is where in one

    auto operator<=>(const Contents&) const = default;
};

/// What the bytes of a struct are; those of padding are nothing.
class Members {
  public:
    /// Of bytes that may be used in any way.
    static constexpr std::string_view anything = "anything";

    /// Where the last ones end, or behind it. False if they are not behind it, or if they are too many.
    bool add(std::string_view kind, std::int64_t size, std::int64_t at, std::int64_t count);
    /// @p count structs of @p size bytes, one after the other.
    bool add(const Members& of_struct, std::int64_t size, std::int64_t at, std::int64_t count);

    /// Empty if it is too long.
    std::string text() const;

  private:
    struct Member {
        std::string_view kind;
        std::int64_t size; ///< of one
        std::int64_t at;
        std::int64_t count;

        std::int64_t end() const { return at + size * count; }
    };
    bool add(const Member& member);
    bool add_once(const Members& of_struct, std::int64_t at);

    std::vector<Member> m_all; ///< ascending
};

} // namespace hdtrace::merger
