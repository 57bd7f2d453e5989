// packed.h - numbers as few bytes, as the page's reader of them (python/page/src/data/packed.js) expects
// them.
#pragma once

#include <cstdint>
#include <string>

#include "hdtrace/format/bytes.h"

namespace hdtrace::report {

/// Seven bits in a byte, the low ones first; the eighth says that more follow. Negative numbers alternate
/// with positive ones: 0, -1, 1, -2, ...
class Packed {
  public:
    void add(std::uint64_t number) { detail::append_short(m_bytes, number); }
    void add_signed(std::int64_t number) { add(detail::folded(number)); }
    void add_byte(std::uint8_t byte) { m_bytes += static_cast<char>(byte); }
    /// Its eight bytes.
    void add_double(double number);
    /// Its size in bytes, then these.
    void add_all(const Packed& other);

    const std::string& bytes() const { return m_bytes; }
    bool empty() const { return m_bytes.empty(); }
    void clear() { m_bytes.clear(); }

  private:
    std::string m_bytes;
};

/// A stream of zlib. Throws std::bad_alloc. Any number of threads may call it.
std::string compressed(const std::string& bytes);

} // namespace hdtrace::report
