// Writes XML to a file descriptor.
#pragma once

#include <libxml/xmlwriter.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hdtrace::merger {

/// @p text with U+FFFD for what XML cannot hold: control characters and bytes that are not UTF-8.
std::string xml_text(std::string_view text);

/// An indented UTF-8 document. Functions throw std::system_error if it cannot be written. The document is
/// complete only if finish() returned.
class XmlWriter {
  public:
    /// @p file is not closed.
    explicit XmlWriter(int file);
    XmlWriter(const XmlWriter&) = delete;
    XmlWriter& operator=(const XmlWriter&) = delete;

    void start(std::string_view element);
    void attribute(std::string_view name, std::string_view value);
    void attribute(std::string_view name, std::integral auto value)
    {
        attribute(name, std::to_string(value));
    }
    void text(std::string_view text);
    void end();
    /// An element with text only.
    void element(std::string_view name, std::string_view text);
    void finish();

  private:
    struct Target {
        int file;
        int error = 0;
    };
    struct FreeWriter {
        void operator()(xmlTextWriter* writer) const { xmlFreeTextWriter(writer); }
    };

    static int write_bytes(void* target, const char* bytes, int size);
    void check(int result) const;

    Target m_target;
    std::unique_ptr<xmlTextWriter, FreeWriter> m_writer;
};

} // namespace hdtrace::merger
