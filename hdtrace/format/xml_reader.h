// xml_reader.h - libxml2's streaming reader with our rules: no network, no document type, errors with their
// place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <libxml/xmlreader.h>

#include "hdtrace/format/element.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/file.h"

namespace hdtrace::detail {

/// The file is right as far as it goes, but more must follow.
class EndOfData : public ReadError {
    using ReadError::ReadError;
};

/// A message of libxml2 without its line ends.
std::string one_line(std::string_view message);

/// Finds tags with too many attributes, before libxml2 compares each of them with all others.
class TagScanner {
  public:
    static constexpr int most_attributes = 1000;

    /// How many of the next bytes stand before such an attribute.
    std::size_t scan(std::string_view bytes);

  private:
    enum class Place { text, opening, tag, value };

    Place m_place = Place::text;
    char m_quote = 0;
    int m_attributes = 0;
};

enum class Node { element, element_end, text, document_end };

class XmlReader {
  public:
    /// @p file is for messages; @p source must outlive the reader.
    XmlReader(std::string file, ByteSource& source);
    XmlReader(const XmlReader&) = delete;
    XmlReader& operator=(const XmlReader&) = delete;

    /// Goes to the next element, end of an element, or text that is not blank. An element that is_empty() has
    /// no end. Throws ReadError, EndOfData, OpenError.
    Node next();
    /// From an element over all that it contains, to its end.
    void skip();

    std::string_view name() const;
    /// Throws ReadError if there are too many, as next() does for elements.
    void read_attributes(AttributeList& attributes);
    /// For those that are held in memory by other means.
    void count_attributes();
    bool is_empty() const { return xmlTextReaderIsEmptyElement(m_reader.get()) == 1; }
    std::string_view text() const;
    /// Of the current element or text, counted from 1.
    std::int64_t line() const { return m_line; }

    /// Fewer elements and attributes than the source allows.
    void limit_items(std::size_t most) { m_most_items = std::min(m_most_items, most); }
    /// What was read is not held in memory any more.
    void forget_items() { m_items = 0; }

    /// Throws ReadError if the attributes of a root tell of a format that came later.
    void refuse_newer(const AttributeList& root) const;
    /// Throws ReadError for the current line.
    [[noreturn]] void fail(const std::string& reason) const;

    const std::string& file() const { return m_file; }
    /// How many line ends were read; at the end of the data that is the number of whole lines.
    std::int64_t lines_read() const { return m_lines_read; }
    /// The current element for libxml2's own functions. Owned by the reader.
    xmlNode* node() const { return xmlTextReaderCurrentNode(m_reader.get()); }

  private:
    struct Free {
        void operator()(xmlTextReader* reader) const { xmlFreeTextReader(reader); }
    };
    /// What libxml2 complained about first.
    struct Problem {
        std::int64_t line = 0;
        std::int64_t column = 0;
        std::string reason;
        bool at_end = false;
    };

    static int read_bytes(void* self, char* target, int size) noexcept;
    std::size_t read_tags(char* target, std::size_t size);
    void count_items(std::size_t items);
    void remember(const xmlError& error);
    void update_line(int type);
    [[noreturn]] void raise() const;

    std::string m_file;
    ByteSource& m_source;
    std::unique_ptr<xmlTextReader, Free> m_reader;
    Problem m_problem;
    std::int64_t m_line = 0;
    std::int64_t m_text_line = 0; ///< at the end of the last text
    std::int64_t m_lines_read = 0;
    std::size_t m_padding;
    TagScanner m_tags;
    std::size_t m_items = 0; ///< that may be held in memory
    std::size_t m_most_items;
    std::exception_ptr m_exception; ///< which must not pass through libxml2
    bool m_told_end = false;        ///< libxml2 knows that no more bytes follow
};

} // namespace hdtrace::detail
