#include "hdtrace/report/packed.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include <zlib.h>

namespace hdtrace::report {

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

namespace {

/// Uses the quarter of a megabyte again that it needs: most of what it compresses is small.
class Compressor {
  public:
    Compressor()
    {
        if (deflateInit(&m_stream, Z_DEFAULT_COMPRESSION) != Z_OK)
            throw std::bad_alloc();
    }
    ~Compressor() { deflateEnd(&m_stream); }
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    std::string compress(const std::string& bytes)
    {
        std::string result(deflateBound(&m_stream, bytes.size()), '\0');
        std::size_t taken = 0, made = 0;
        int state = Z_OK;
        deflateReset(&m_stream);
        while (state == Z_OK) { // zlib counts in 32 bits
            const uInt in = piece(bytes.size() - taken), out = piece(result.size() - made);
            m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())) + taken;
            m_stream.next_out = reinterpret_cast<Bytef*>(result.data()) + made;
            m_stream.avail_in = in;
            m_stream.avail_out = out;
            state = deflate(&m_stream, taken + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
            taken += in - m_stream.avail_in;
            made += out - m_stream.avail_out;
        }
        result.resize(made);
        result.shrink_to_fit();
        return result;
    }

  private:
    static uInt piece(std::size_t size)
    {
        return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
    }

    z_stream m_stream = {};
};

} // namespace

std::string compressed(const std::string& bytes)
{
    thread_local Compressor compressor;
    return compressor.compress(bytes);
}

} // namespace hdtrace::report
