#include "merger/xml_writer.h"

#include <glib.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <unistd.h>

namespace hdtrace::merger {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

const xmlChar* xml_string(const std::string& text)
{
    return reinterpret_cast<const xmlChar*>(text.c_str());
}

bool is_xml_char(gunichar c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xD7FF) ||
           (c >= 0xE000 && c <= 0xFFFD) || (c >= 0x10000 && c <= 0x10FFFF);
}

} // namespace

std::string xml_text(std::string_view text)
{
    if (std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; }))
        return std::string(text);
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const gunichar c = g_utf8_get_char_validated(text.data(), static_cast<gssize>(text.size()));
        // GLib's values for broken and for incomplete characters lie beyond Unicode. It also stops at a NUL.
        const bool is_valid = is_xml_char(c);
        const bool is_one_byte = c > 0x10FFFF || c == 0;
        const std::size_t size = is_one_byte ? 1 : static_cast<std::size_t>(g_unichar_to_utf8(c, nullptr));
        result += is_valid ? text.substr(0, size) : replacement;
        text.remove_prefix(size);
    }
    return result;
}

XmlWriter::XmlWriter(int file) : m_target{file}
{
    xmlOutputBuffer* buffer = xmlOutputBufferCreateIO(write_bytes, nullptr, &m_target, nullptr);
    if (!buffer)
        throw std::bad_alloc();
    m_writer.reset(xmlNewTextWriter(buffer)); // takes the buffer
    if (!m_writer) {
        xmlOutputBufferClose(buffer);
        throw std::bad_alloc();
    }
    check(xmlTextWriterSetIndent(m_writer.get(), 1));
    check(xmlTextWriterSetIndentString(m_writer.get(), BAD_CAST "  "));
    check(xmlTextWriterStartDocument(m_writer.get(), "1.0", "UTF-8", nullptr));
}

int XmlWriter::write_bytes(void* context, const char* bytes, int size)
{
    auto* target = static_cast<Target*>(context);
    for (int written = 0; written < size && target->error == 0;) {
        const ssize_t result = write(target->file, bytes + written, static_cast<std::size_t>(size - written));
        if (result >= 0)
            written += static_cast<int>(result);
        else if (errno != EINTR)
            target->error = errno;
    }
    return size; // libxml2 would print a message of its own; check() tells about the error
}

void XmlWriter::check(int result) const
{
    if (m_target.error != 0)
        throw std::system_error(m_target.error, std::generic_category());
    if (result < 0)
        throw std::bad_alloc();
}

void XmlWriter::start(std::string_view element)
{
    check(xmlTextWriterStartElement(m_writer.get(), xml_string(std::string(element))));
}

void XmlWriter::attribute(std::string_view name, std::string_view value)
{
    check(xmlTextWriterWriteAttribute(m_writer.get(), xml_string(std::string(name)),
                                      xml_string(xml_text(value))));
}

void XmlWriter::text(std::string_view text)
{
    check(xmlTextWriterWriteString(m_writer.get(), xml_string(xml_text(text))));
}

void XmlWriter::end()
{
    check(xmlTextWriterEndElement(m_writer.get()));
}

void XmlWriter::element(std::string_view name, std::string_view content)
{
    start(name);
    text(content);
    end();
}

void XmlWriter::finish()
{
    check(xmlTextWriterEndDocument(m_writer.get()));
    check(xmlTextWriterFlush(m_writer.get()));
}

} // namespace hdtrace::merger
