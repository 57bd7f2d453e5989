#include "hdtrace/writer/trace_file.h"

#include "hdtrace/writer/own_file.h"
#include "hdtrace/writer/text_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

namespace hdtrace {

namespace {

constexpr Compression all_forms[] = {Compression::none, Compression::gzip, Compression::zstd};

} // namespace

TraceFile::~TraceFile()
{
    free(m_path);
}

bool TraceFile::is_taken(const char* path)
{
    for (const Compression form : all_forms) {
        TextBuffer name;
        if (hdtrace::is_taken(name.string(path).string(suffix_of(form)).c_string()))
            return true;
    }
    return false;
}

int TraceFile::choose(const char* path, Compression compression)
{
    if (compression != Compression::none)
        m_compressor.open(compression);
    const Compression chosen = is_compressed() ? compression : Compression::none;
    // A trace of the same name in another form would be an older one.
    for (const Compression form : all_forms) {
        TextBuffer name;
        name.string(path).string(suffix_of(form));
        if (form == chosen)
            m_path = strdup(name.c_string());
        else if (!remove_own_file(name.c_string()))
            return EEXIST;
    }
    return m_path != nullptr && *m_path != '\0' ? 0 : ENOMEM;
}

int TraceFile::open(Text head, Text footer, char* room)
{
    if (is_compressed()) {
        footer = m_compressor.compress(m_compressed_footer, footer);
        m_next_block.skip(head);
        head = m_compressor.compress(room, head);
    }
    const int error = m_file.open(m_path, footer);
    return error != 0 ? error : m_file.write(head, Undisturbed());
}

int TraceFile::write(Text lines, Text elements, Text tail, char* room, const Undisturbed& undisturbed)
{
    return is_compressed() ? write_compressed(lines, elements, tail, room, undisturbed)
                           : write_parts(lines, elements, tail, undisturbed);
}

int TraceFile::write_parts(Text lines, Text elements, Text tail, const Undisturbed& undisturbed)
{
    return tail.size > 0 ? m_file.write(lines, elements, tail, undisturbed)
                         : m_file.write(lines, undisturbed);
}

int TraceFile::write_compressed(Text lines, Text elements, Text tail, char* room,
                                const Undisturbed& undisturbed)
{
    const auto compress = [&](Text text) {
        const Text compressed = text.size > 0 ? m_compressor.compress(room, text) : text;
        room += compressed.size;
        return compressed;
    };
    Text block = {};
    if (lines.size > 0) {
        block = m_compressor.compress_block(room, lines, m_next_block.head_of(lines));
        if (block.size == 0)
            return EIO;
        room += block.size;
    }
    const Text rest = compress(elements), end = compress(tail);
    const int error = write_parts(block, rest, end, undisturbed);
    if (error == 0)
        m_next_block.skip(lines);
    return error;
}

} // namespace hdtrace
