// Checks of the XML that users of the C API hand in.
#pragma once

#include "hdtrace/writer/text_buffer.h"

namespace hdtrace {

/// A name of XML 1.0 without colon that does not begin with "xml".
bool is_xml_name(const char* name);

/// Attributes of one element as XML: ` name='value'` for each.
class XmlAttributes {
  public:
    /// The functions return 0 or one of the numbers of the C API, and then add nothing. Refused are the names
    /// time and end, which states have anyway, and names that the list has already.
    int add(const char* name, const char* value);
    /// Adds what is XML already, and refuses line breaks: a state is one line.
    int add_xml(const char* xml, size_t size);

    const TextBuffer& text() const { return m_text; }
    void clear() { m_text.clear(); }

  private:
    struct Attribute;
    int add_parsed(const Attribute& attribute);
    int check_name(const char* name, size_t length) const;
    bool has(const char* name, size_t length) const;

    TextBuffer m_text;
};

} // namespace hdtrace
