#include "hdtrace/writer/trace_file.h"

#include "hdtrace/segments.h"
#include "hdtrace/writer/own_file.h"
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

namespace hdtrace {

namespace {

constexpr Compression all_forms[] = {Compression::none, Compression::gzip, Compression::zstd,
                                     Compression::compact};

static_assert(segment_count <= 10); // a digit
constexpr size_t segment_room = 2;

// False if one of them is not ours.
bool remove_later_segments(TextBuffer& path)
{
    const size_t size = path.size();
    bool are_ours = true;
    for (int segment = 1; segment < segment_count && are_ours; ++segment) {
        path.truncate(size);
        path.text(".").number(segment);
        if (access(path.c_string(), F_OK) != 0)
            break;
        are_ours = remove_own_file(path.c_string());
    }
    path.truncate(size);
    return are_ours;
}

char* copy_with_room(const char* path)
{
    char* const copy = static_cast<char*>(own_malloc(strlen(path) + segment_room + 1));
    return copy != nullptr ? strcpy(copy, path) : nullptr;
}

} // namespace

TraceOutput::~TraceOutput()
{
    own_free(m_path);
}

bool TraceOutput::is_taken(const char* path)
{
    for (const Compression form : all_forms) {
        TextBuffer name;
        if (hdtrace::is_taken(name.string(path).string(suffix_of(form)).c_string()))
            return true;
    }
    return false;
}

bool TraceOutput::remove_all(const char* path)
{
    bool are_ours = true;
    for (const Compression form : all_forms) {
        TextBuffer name;
        name.string(path).string(suffix_of(form));
        are_ours = remove_later_segments(name) && remove_own_file(name.c_string()) && are_ours;
    }
    return are_ours;
}

int TraceOutput::choose(const char* path, Compression compression)
{
    if (compression == Compression::compact_zstd && m_compressor.open(compression) != 0)
        compression = Compression::compact;
    const bool is_text = compression == Compression::none;
    m_form =
        is_text || is_compressed() || m_compressor.open(compression) == 0 ? compression : Compression::none;
    // Readers would take one in another form for this trace. One in the same form is not emptied instead:
    // what an emptied file gets, ext4, XFS and Btrfs begin to write to the disk when it is closed, and the
    // program waits.
    if (!remove_all(path))
        return EEXIST;
    TextBuffer name;
    m_path = copy_with_room(name.string(path).string(suffix_of(m_form)).c_string());
    return m_path != nullptr && *m_path != '\0' ? 0 : ENOMEM;
}

int TraceOutput::open(int segment, Text head, Text footer, char* room)
{
    m_next_block = {};
    if (is_compressed()) {
        footer = m_compressor.compress_text(m_compressed_footer, footer);
        m_next_block.skip(head);
        head = m_compressor.compress_text(room, head);
    }
    char* const end = m_path + strlen(m_path);
    if (segment > 0)
        *put_number(put_text(end, "."), segment) = '\0';
    const OutputFile::Rest rest = is_compact() ? OutputFile::Rest::counts : OutputFile::Rest::may_be_lost;
    const int error = m_file.open(m_path, footer, rest);
    *end = '\0';
    return error != 0 ? error : m_file.write(head, Undisturbed());
}

int TraceOutput::write(Lines lines, Text elements, Text tail, char* room, const Undisturbed& undisturbed)
{
    return is_compressed() ? write_compressed(lines, elements, tail, room, undisturbed)
                           : write_parts(lines.bytes, elements, tail, undisturbed);
}

int TraceOutput::write_parts(Text lines, Text elements, Text tail, const Undisturbed& undisturbed)
{
    return tail.size > 0 ? m_file.write(lines, elements, tail, undisturbed)
                         : m_file.write(lines, undisturbed);
}

int TraceOutput::write_compressed(Lines lines, Text elements, Text tail, char* room,
                                  const Undisturbed& undisturbed)
{
    const auto compress = [&](Text text) {
        const Text compressed = text.size > 0 ? m_compressor.compress(room, text) : text;
        room += compressed.size;
        return compressed;
    };
    Text block = {};
    BlockPosition behind = m_next_block;
    if (lines.bytes.size > 0) {
        const BlockHead head =
            is_compact() ? behind.add_records(lines.of_records) : behind.add_text(lines.bytes);
        block = m_compressor.compress_block(room, lines.bytes, head);
        if (block.size == 0)
            return EIO;
        room += block.size;
    }
    const Text rest = compress(elements), end = compress(tail);
    const int error = write_parts(block, rest, end, undisturbed);
    if (error == 0)
        m_next_block = behind;
    return error;
}

} // namespace hdtrace
