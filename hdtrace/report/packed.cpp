#include "hdtrace/report/packed.h"

#include <cstring>
#include <new>

#include <zlib.h>

namespace hdtrace::report {

void Packed::add(std::uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        m_bytes += static_cast<char>(number | 0x80);
    m_bytes += static_cast<char>(number);
}

void Packed::add_double(double number)
{
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    m_bytes.append(bytes, sizeof bytes);
}

void Packed::add_all(const Packed& other)
{
    add(other.m_bytes.size());
    m_bytes += other.m_bytes;
}

std::string compressed(const std::string& bytes)
{
    uLongf size = compressBound(bytes.size());
    std::string result(size, '\0');
    const auto* const from = reinterpret_cast<const Bytef*>(bytes.data());
    if (compress2(reinterpret_cast<Bytef*>(result.data()), &size, from, bytes.size(),
                  Z_DEFAULT_COMPRESSION) != Z_OK)
        throw std::bad_alloc();
    result.resize(size);
    return result;
}

} // namespace hdtrace::report
