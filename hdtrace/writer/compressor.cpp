#include "hdtrace/writer/compressor.h"

#include "hdtrace/compact_form.h"
#include "hdtrace/writer/compact_lines.h"
#include "hdtrace/writer/line_matcher.h"
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/sanitizers.h"

#include <dlfcn.h>
#include <errno.h>
#include <initializer_list>
#include <new>
#include <stdlib.h>
#include <zlib.h>

namespace hdtrace {

/// A way to compress.
struct Codec {
    struct Lead {
        const unsigned char* bytes;
        size_t size;
    };
    Lead block_lead; ///< before the head of a block
    Lead lead;       ///< before what is not a block
    bool tells_size; ///< behind that lead
    void* (*create)();
    void (*destroy)(void* memory);
    /// Writes what follows a lead or a head; returns the end, null if that failed.
    char* (*compress)(void* memory, char* out, Text text);
};

namespace {

// The libraries are loaded when compression is asked for: so no program gets another one to depend on,
// neither the traced one nor those that are linked with our archives. Names are bound to the library itself,
// because the program may have functions of another version under the same names.
// The run-time libraries of sanitizers want to be asked first, and end programs that prevent it.
int load_flags()
{
    return RTLD_NOW | RTLD_LOCAL | (has_sanitizer() ? 0 : RTLD_DEEPBIND);
}

// Loaded once, and never unloaded: dlopen() needs more than small stacks of threads have.
void* load_once(const char* name, void*& handle)
{
    void* known = __atomic_load_n(&handle, __ATOMIC_ACQUIRE);
    if (known != nullptr)
        return known;
    void* const loaded = dlopen(name, load_flags());
    if (__atomic_compare_exchange_n(&handle, &known, loaded, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return loaded;
    if (loaded != nullptr) // another thread was faster
        dlclose(loaded);
    return known;
}

class Library {
  public:
    /// @p handle is the same for all of that name.
    Library(const char* name, void*& handle)
        : m_handle(load_once(name, handle)), m_is_complete(m_handle != nullptr)
    {
    }

    template <typename Function> void find(Function& function, const char* name)
    {
        void* const found = m_is_complete ? dlsym(m_handle, name) : nullptr;
        function = reinterpret_cast<Function>(found);
        m_is_complete = found != nullptr;
    }
    bool is_complete() const { return m_is_complete; }

  private:
    void* const m_handle;
    bool m_is_complete;
};

template <typename Object> void* create()
{
    void* const memory = own_malloc(sizeof(Object));
    if (memory == nullptr)
        return nullptr;
    Object* const object = new (memory) Object;
    if (object->is_ready())
        return memory;
    object->~Object();
    own_free(memory);
    return nullptr;
}

template <typename Object> void destroy(void* memory)
{
    static_cast<Object*>(memory)->~Object();
    own_free(memory);
}

template <typename Object> char* compress(void* memory, char* out, Text text)
{
    return static_cast<Object*>(memory)->compress(out, text);
}

// The library and a context in memory of ours, for what derives from it.
class ZstdContext {
  public:
    bool is_ready() const { return m_context != nullptr; }

  protected:
    struct Setting {
        ZSTD_cParameter parameter;
        int value;
    };

    ZstdContext() : m_library("libzstd.so.1", library)
    {
        m_library.find(m_is_error, "ZSTD_isError");
        m_library.find(m_set_parameter, "ZSTD_CCtx_setParameter");
        m_library.find(m_init_static, "ZSTD_initStaticCCtx");
        m_library.find(m_estimate_size, "ZSTD_estimateCCtxSize_usingCParams");
    }
    ~ZstdContext() { own_free(m_workspace); }

    /// Once all functions are found.
    void make_context(const ZSTD_compressionParameters& parameters, std::initializer_list<Setting> settings)
    {
        const size_t size = m_estimate_size(parameters);
        m_workspace = own_malloc(size);
        m_context = m_workspace != nullptr ? m_init_static(m_workspace, size) : nullptr;
        if (m_context == nullptr)
            return;
        for (const auto& [parameter, value] : settings)
            m_set_parameter(m_context, parameter, value);
    }

    static constinit inline void* library = nullptr;
    Library m_library;
    decltype(&ZSTD_isError) m_is_error;
    ZSTD_CCtx* m_context = nullptr;

  private:
    decltype(&ZSTD_CCtx_setParameter) m_set_parameter;
    decltype(&ZSTD_initStaticCCtx) m_init_static;
    decltype(&ZSTD_estimateCCtxSize_usingCParams) m_estimate_size;
    void* m_workspace = nullptr;
};

// Frames of at most a block of zstd's each.
class Zstd : public ZstdContext {
  public:
    Zstd()
    {
        m_library.find(m_compress_sequences, "ZSTD_compressSequences");
        m_library.find(m_version, "ZSTD_versionNumber");
        constexpr unsigned oldest = 1 * 100 * 100 + 5 * 100;
        if (m_library.is_complete() && m_version() >= oldest)
            make();
    }

    char* compress(char* out, Text text)
    {
        while (text.size > 0) {
            const size_t part = m_matcher.find_copies(text);
            const size_t size = m_compress_sequences(m_context, out, Compressor::bound(part),
                                                     m_matcher.copies(), m_matcher.count(), text.data, part);
            if (m_is_error(size))
                return nullptr;
            out += size;
            text = {text.data + part, text.size - part};
        }
        return out;
    }

  private:
    void make()
    {
        constexpr int window_bits = 17, smallest = 6, shortest_match = 4;
        static_assert(LineMatcher::longest_text <= 1 << window_bits);
        // zstd does not search, so its tables for that are as small as can be.
        make_context({window_bits, smallest, smallest, 1, shortest_match, 0, ZSTD_fast},
                     {{ZSTD_c_windowLog, window_bits},
                      {ZSTD_c_hashLog, smallest},
                      {ZSTD_c_chainLog, smallest},
                      {ZSTD_c_minMatch, shortest_match},
                      {ZSTD_c_strategy, ZSTD_fast},
                      {ZSTD_c_checksumFlag, 1},
                      {ZSTD_c_stableInBuffer, 1},
                      {ZSTD_c_stableOutBuffer, 1}, // no copies of them in the workspace
                      {ZSTD_c_blockDelimiters, ZSTD_sf_explicitBlockDelimiters},
                      // Unknown before 1.5.4, which always did so.
                      {ZSTD_c_searchForExternalRepcodes, ZSTD_ps_enable}});
    }

    decltype(&ZSTD_compressSequences) m_compress_sequences;
    decltype(&ZSTD_versionNumber) m_version;
    LineMatcher m_matcher;
};

// The body of a unit of a compact trace, as it is.
class Records {
  public:
    bool is_ready() const { return true; }
    char* compress(char* out, Text records)
    {
        *out++ = static_cast<char>(CompactBody::records);
        memcpy(out, records.data, records.size);
        return out + records.size;
    }
};

// The same as a frame of zstd's, which searches in it, for lines of records are not alike in places that are
// known before.
class ZstdRecords : public ZstdContext {
  public:
    ZstdRecords()
    {
        m_library.find(m_compress, "ZSTD_compress2");
        if (m_library.is_complete())
            make();
    }

    char* compress(char* out, Text records)
    {
        *out++ = static_cast<char>(CompactBody::zstd);
        const size_t size =
            m_compress(m_context, out, Compressor::bound(records.size), records.data, records.size);
        return m_is_error(size) ? nullptr : out + size;
    }

  private:
    void make()
    {
        constexpr int window_bits = 17, hash_bits = 13, shortest_match = 5;
        make_context({window_bits, hash_bits, hash_bits, 1, shortest_match, 0, ZSTD_fast},
                     {{ZSTD_c_windowLog, window_bits},
                      {ZSTD_c_hashLog, hash_bits},
                      {ZSTD_c_chainLog, hash_bits},
                      {ZSTD_c_searchLog, 1},
                      {ZSTD_c_minMatch, shortest_match},
                      {ZSTD_c_targetLength, 0},
                      {ZSTD_c_strategy, ZSTD_fast},
                      {ZSTD_c_checksumFlag, 1}});
    }

    decltype(&ZSTD_compress2) m_compress;
};

// The rest of a member of a gzip file, behind its header.
class Gzip {
  public:
    Gzip() : m_library("libz.so.1", library)
    {
        decltype(&deflateInit2_) init;
        m_library.find(init, "deflateInit2_");
        m_library.find(m_reset, "deflateReset");
        m_library.find(m_deflate, "deflate");
        m_library.find(m_end, "deflateEnd");
        m_library.find(m_crc, "crc32");
        constexpr int level = 1, no_header = -15, usual_memory = 8;
        m_is_ready =
            m_library.is_complete() && init(&m_stream, level, Z_DEFLATED, no_header, usual_memory,
                                            Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof m_stream) == Z_OK;
    }
    ~Gzip()
    {
        if (m_is_ready)
            m_end(&m_stream);
    }
    bool is_ready() const { return m_is_ready; }

    char* compress(char* out, Text text)
    {
        m_reset(&m_stream);
        m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data));
        m_stream.avail_in = static_cast<uInt>(text.size);
        m_stream.next_out = reinterpret_cast<Bytef*>(out);
        m_stream.avail_out = static_cast<uInt>(Compressor::bound(text.size));
        if (m_deflate(&m_stream, Z_FINISH) != Z_STREAM_END)
            return nullptr;
        out += m_stream.total_out;
        const uint64_t check =
            m_crc(0, reinterpret_cast<const Bytef*>(text.data), static_cast<uInt>(text.size));
        return put_little_endian(out, text.size << 32 | check);
    }

  private:
    static constinit inline void* library = nullptr;
    Library m_library;
    decltype(&deflateReset) m_reset;
    decltype(&deflate) m_deflate;
    decltype(&deflateEnd) m_end;
    decltype(&crc32) m_crc;
    z_stream m_stream = {};
    bool m_is_ready;
};

constexpr unsigned char gzip_lead[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};

template <size_t Size> constexpr Codec::Lead lead_of(const unsigned char (&bytes)[Size])
{
    return {bytes, Size};
}

template <typename Object>
constexpr Codec codec_of(Codec::Lead block_lead, Codec::Lead lead, bool tells_size = false)
{
    return {block_lead, lead, tells_size, create<Object>, destroy<Object>, compress<Object>};
}

constexpr Codec zstd_codec = codec_of<Zstd>(lead_of(zstd_block_lead), {nullptr, 0});
constexpr Codec gzip_codec = codec_of<Gzip>(lead_of(gzip_block_lead), lead_of(gzip_lead));
constexpr Codec compact_codec =
    codec_of<Records>(lead_of(compact_block_lead), lead_of(compact_unit_lead), true);
constexpr Codec compact_zstd_codec =
    codec_of<ZstdRecords>(lead_of(compact_block_lead), lead_of(compact_unit_lead), true);

const Codec& codec_for(Compression compression)
{
    switch (compression) {
    case Compression::gzip:
        return gzip_codec;
    case Compression::compact:
        return compact_codec;
    case Compression::compact_zstd:
        return compact_zstd_codec;
    case Compression::zstd:
    case Compression::none:
        break;
    }
    return zstd_codec;
}

char* put(char* out, Codec::Lead lead)
{
    if (lead.size > 0)
        memcpy(out, lead.bytes, lead.size);
    return out + lead.size;
}

Text written(char* begin, char* end)
{
    return end != nullptr ? Text{begin, static_cast<size_t>(end - begin)} : Text{};
}

} // namespace

Compressor::~Compressor()
{
    if (is_open())
        m_codec->destroy(m_memory);
}

int Compressor::open(Compression compression)
{
    const Codec& codec = codec_for(compression);
    m_memory = codec.create();
    if (m_memory == nullptr)
        return ELIBACC;
    m_codec = &codec;
    m_is_compact = compression == Compression::compact || compression == Compression::compact_zstd;
    return 0;
}

Text Compressor::compress(char* out, Text text)
{
    char* const size_place = put(out, m_codec->lead);
    char* const body = size_place + (m_codec->tells_size ? compact_size_bytes : 0);
    char* const end = m_codec->compress(m_memory, body, text);
    if (m_codec->tells_size && end != nullptr)
        put_little_endian(size_place, static_cast<uint64_t>(end - body));
    return written(out, end);
}

Text Compressor::compress_text(char* out, Text text)
{
    if (!is_compact())
        return compress(out, text);
    char* const size_place = put(out, m_codec->lead);
    char* const body = size_place + compact_size_bytes;
    *body = static_cast<char>(CompactBody::records);
    char* const begin = CompactLines::begin_text(body + 1);
    memcpy(begin, text.data, text.size);
    char* const end = CompactLines::end_text(begin, begin + text.size);
    put_little_endian(size_place, static_cast<uint64_t>(end - body));
    return written(out, end);
}

Text Compressor::compress_block(char* out, Text lines, BlockHead head)
{
    char* const head_place = put(out, m_codec->block_lead);
    char* const body = head_place + block_head_size;
    char* const end = m_codec->compress(m_memory, body, lines);
    head.compressed_size = end != nullptr ? static_cast<uint64_t>(end - body) : 0;
    put_block_head(head_place, head);
    return written(out, end);
}

} // namespace hdtrace
