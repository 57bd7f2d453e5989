// decoder.h - how compressed bytes become text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hdtrace::detail {

class TextNotes;

/// Turns compressed bytes into text.
class Decoder {
  public:
    struct Progress {
        std::size_t read = 0;
        std::size_t written = 0;
        bool is_damaged = false;
    };

    /// What a writer may go over: the last head of which that is known.
    struct Passing {
        std::string_view head;   ///< as far as it was taken; empty if there was none
        std::uint64_t taken = 0; ///< bytes, since its first one
    };

    virtual ~Decoder() = default;
    /// From the beginning of a frame, a member or a unit on.
    virtual void restart() = 0;
    virtual Progress decode(std::string_view from, char* to, std::size_t size) = 0;
    virtual Passing passing() const { return {}; }
    /// Notes about the text that is handed out from here on, as far as restart(); null if there are none.
    virtual TextNotes* begin_notes() { return nullptr; }
};

} // namespace hdtrace::detail
