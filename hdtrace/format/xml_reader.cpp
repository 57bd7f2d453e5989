#include "hdtrace/format/xml_reader.h"

#include <algorithm>

#include <libxml/parser.h>
#include <libxml/tree.h>

#include "hdtrace/format/interruption.h"

namespace hdtrace::detail {
namespace {

// libxml2 keeps line numbers of elements only below this one.
constexpr std::int64_t line_limit = 65535;

// libxml2 looks at the last bytes (fewer than this) only after it was told that nothing follows. With this
// much white space behind them, what it complains about after that is the lack of data and not the data.
constexpr std::size_t padding_size = 4096;

std::string_view view(const xmlChar* text)
{
    return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

std::int64_t lines_after_first_word(std::string_view text)
{
    const std::size_t word = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    return std::count(text.begin() + word, text.end(), '\n');
}

} // namespace

std::string one_line(std::string_view message)
{
    std::string line(message.substr(0, message.find_last_not_of(" \n") + 1));
    std::ranges::replace(line, '\n', ' ');
    return line;
}

std::size_t TagScanner::scan(std::string_view bytes)
{
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char c = bytes[i];
        if (m_place == Place::text) { // mostly between the lines
            if (c == '<')
                m_place = Place::opening;
        } else if (m_place == Place::opening) {
            m_place = c == '!' || c == '?' || c == '/' ? Place::text : Place::tag;
            m_attributes = 0;
        } else if (m_place == Place::value) {
            if (c == m_quote || c == '<') // which no value contains
                m_place = c == '<' ? Place::opening : Place::tag;
        } else if (c == '\'' || c == '"') {
            if (++m_attributes > most_attributes)
                return i;
            m_place = Place::value;
            m_quote = c;
        } else if (c == '>' || c == '<') {
            m_place = c == '>' ? Place::text : Place::opening;
        }
    }
    return bytes.size();
}

XmlReader::XmlReader(std::string file, ByteSource& source)
    : m_file(std::move(file)), m_source(source), m_padding(padding_size), m_most_items(source.most_items())
{
    xmlInitParser();
    const int options = XML_PARSE_NONET | XML_PARSE_BIG_LINES;
    m_reader.reset(xmlReaderForIO(read_bytes, nullptr, this, m_file.c_str(), nullptr, options));
    if (!m_reader)
        throw std::bad_alloc();
    // The parameter is const in newer releases of libxml2.
    const xmlStructuredErrorFunc on_error = [](void* self, auto* error) {
        static_cast<XmlReader*>(self)->remember(*error);
    };
    xmlTextReaderSetStructuredErrorHandler(m_reader.get(), on_error, this);
}

int XmlReader::read_bytes(void* self, char* target, int size) noexcept
{
    XmlReader& reader = *static_cast<XmlReader*>(self);
    if (reader.m_exception)
        return -1;
    try {
        check_for_interruption();
        if (const std::size_t count = reader.read_tags(target, size))
            return static_cast<int>(count);
    } catch (...) {
        reader.m_exception = std::current_exception();
        return -1;
    }
    const std::size_t count = std::min<std::size_t>(size, reader.m_padding);
    std::fill_n(target, count, '\n');
    reader.m_padding -= count;
    reader.m_told_end = count == 0;
    return static_cast<int>(count);
}

std::size_t XmlReader::read_tags(char* target, std::size_t size)
{
    const std::size_t count = m_source.read(target, size);
    const std::size_t good = m_tags.scan({target, count});
    m_lines_read += std::count(target, target + good, '\n');
    if (good < count)
        throw ReadError(m_file, m_lines_read + 1, 0,
                        "the tag has more than " + std::to_string(TagScanner::most_attributes) +
                            " attributes");
    return count;
}

void XmlReader::remember(const xmlError& error)
{
    if (m_problem.reason.empty() && error.level == XML_ERR_FATAL)
        m_problem = {error.line, error.int2, one_line(error.message), m_told_end};
}

void XmlReader::raise() const
{
    if (m_exception)
        std::rethrow_exception(m_exception);
    if (m_source.error())
        throw OpenError(m_file, m_source.error());
    if (const std::string refusal = m_source.refusal(); !refusal.empty())
        throw ReadError(m_file, m_lines_read + 1, 0, refusal);
    if (m_problem.reason.empty())
        throw ReadError(m_file, 0, 0, "this is not XML");
    if (m_problem.at_end)
        throw EndOfData(m_file, m_lines_read + 1, 0, "the file ends too early");
    throw ReadError(m_file, m_problem.line, m_problem.column, m_problem.reason);
}

void XmlReader::update_line(int type)
{
    const std::int64_t line = xmlGetLineNo(xmlTextReaderCurrentNode(m_reader.get()));
    if (type == XML_READER_TYPE_SIGNIFICANT_WHITESPACE || type == XML_READER_TYPE_TEXT) {
        m_text_line = line;
        m_line = line - lines_after_first_word(text());
    } else
        m_line = line < line_limit ? line : std::max(line_limit, m_text_line);
}

Node XmlReader::next()
{
    while (true) {
        const int outcome = xmlTextReaderRead(m_reader.get());
        if (outcome < 0 || m_source.error())
            raise();
        if (outcome == 0)
            return Node::document_end;
        const int type = xmlTextReaderNodeType(m_reader.get());
        update_line(type);
        switch (type) {
        case XML_READER_TYPE_ELEMENT:
            count_items(1);
            return Node::element;
        case XML_READER_TYPE_END_ELEMENT:
            return Node::element_end;
        case XML_READER_TYPE_TEXT:
        case XML_READER_TYPE_CDATA:
            return Node::text;
        case XML_READER_TYPE_DOCUMENT_TYPE:
            fail("a document type declaration (<!DOCTYPE>) is not allowed here");
        }
    }
}

void XmlReader::skip()
{
    for (int depth = is_empty() ? 0 : 1; depth > 0;) {
        const Node node = next();
        if (node == Node::element && !is_empty())
            ++depth;
        else if (node == Node::element_end)
            --depth;
    }
}

std::string_view XmlReader::name() const
{
    return view(xmlTextReaderConstName(m_reader.get()));
}

std::string_view XmlReader::text() const
{
    return view(xmlTextReaderConstValue(m_reader.get()));
}

void XmlReader::count_items(std::size_t items)
{
    m_items += items;
    if (m_items > m_most_items)
        fail("more than " + std::to_string(m_most_items) +
             " elements and attributes would have to be held in memory");
}

void XmlReader::count_attributes()
{
    count_items(static_cast<std::size_t>(std::max(0, xmlTextReaderAttributeCount(m_reader.get()))));
}

void XmlReader::read_attributes(AttributeList& attributes)
{
    count_attributes();
    attributes.clear();
    while (xmlTextReaderMoveToNextAttribute(m_reader.get()) == 1)
        attributes.push_back(name(), text());
    xmlTextReaderMoveToElement(m_reader.get());
}

void XmlReader::refuse_newer(const AttributeList& root) const
{
    constexpr std::int64_t newest = 1;
    if (root.integer("version").value_or(newest) > newest)
        fail("written by a newer version of hdtrace: read it with that version");
}

void XmlReader::fail(const std::string& reason) const
{
    throw ReadError(m_file, m_line, 0, reason);
}

} // namespace hdtrace::detail
