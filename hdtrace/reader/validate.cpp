#include "hdtrace/reader/validate.h"

#include <memory>
#include <stdexcept>
#include <utility>

#include <libxml/relaxng.h>
#include <libxml/tree.h>

#include "hdtrace/reader/cut_off.h"
#include "hdtrace/reader/errors.h"
#include "hdtrace/reader/file.h"
#include "hdtrace/reader/schemas.h"
#include "hdtrace/reader/xml_reader.h"

namespace hdtrace {

using detail::Node;
using detail::XmlReader;

namespace {

constexpr std::size_t most_problems = 100;
constexpr std::size_t most_children = 100; ///< that are checked together

template <auto free> struct Free {
    template <class Pointer> void operator()(Pointer* pointer) const { free(pointer); }
};
using ParserContext = std::unique_ptr<xmlRelaxNGParserCtxt, Free<xmlRelaxNGFreeParserCtxt>>;
using Schema = std::unique_ptr<xmlRelaxNG, Free<xmlRelaxNGFree>>;
using ValidContext = std::unique_ptr<xmlRelaxNGValidCtxt, Free<xmlRelaxNGFreeValidCtxt>>;
using Document = std::unique_ptr<xmlDoc, Free<xmlFreeDoc>>;

Schema parse_schema(std::string_view text)
{
    const ParserContext parser(xmlRelaxNGNewMemParserCtxt(text.data(), static_cast<int>(text.size())));
    Schema schema(xmlRelaxNGParse(parser.get()));
    if (!schema)
        throw std::logic_error("a schema of hdtrace is not RELAX NG");
    return schema;
}

/* Parsing a schema takes longer than checking a small trace. */
xmlRelaxNG* trace_schema()
{
    thread_local const Schema schema = parse_schema(detail::trc_schema);
    return schema.get();
}

xmlRelaxNG* project_schema()
{
    thread_local const Schema schema = parse_schema(detail::proj_schema);
    return schema.get();
}

class Problems {
  public:
    explicit Problems(const std::string& file) : m_file(file) {}

    bool are_many() const { return m_messages.size() >= most_problems; }
    void add(const ReadError& error) { m_messages.push_back(error.what()); }
    void add(std::int64_t line, const std::string& reason) { add(ReadError(m_file, line, 0, reason)); }
    std::vector<std::string> take() { return std::move(m_messages); }

  private:
    std::string m_file;
    std::vector<std::string> m_messages;
};

/* Checks a trace entry by entry: for names that the schema leaves open libxml2 would otherwise hold the whole
 * trace in memory. Since entries may follow each other in any number, a trace is valid if its root with each
 * of them is. In the same way a state with many children is checked with some of them at a time, because
 * libxml2 needs time that grows with the square of their number. */
class TraceValidator {
  public:
    TraceValidator(XmlReader& xml, Problems& problems)
        : m_xml(xml), m_problems(problems), m_context(xmlRelaxNGNewValidCtxt(trace_schema())),
          m_document(xmlNewDoc(nullptr))
    {
        const xmlStructuredErrorFunc on_error = [](void* self, auto* error) {
            static_cast<TraceValidator*>(self)->remember(*error);
        };
        xmlRelaxNGSetValidStructuredErrors(m_context.get(), on_error, this);
    }

    void run()
    {
        m_xml.next();
        m_line = m_xml.line();
        m_root = copy_of_current();
        xmlDocSetRootElement(m_document.get(), m_root);
        if (!check())
            return;
        if (!m_xml.is_empty())
            add_entries();
        m_xml.next();
    }

    bool has_root() const { return m_root != nullptr; }

  private:
    void add_entries()
    {
        for (Node node = m_xml.next(); node != Node::element_end && !m_problems.are_many();
             node = m_xml.next())
            add_entry(node);
        if (m_root->children)
            check();
    }

    void add_entry(Node node)
    {
        m_line = m_xml.line();
        const bool waits_for_owner = node == Node::element && m_xml.name() == "Nested";
        add_node(m_root, node);
        if (!waits_for_owner)
            check();
    }

    void add_node(xmlNode* parent, Node node)
    {
        if (node == Node::text) {
            xmlNodeAddContent(parent, BAD_CAST std::string(m_xml.text()).c_str());
            return;
        }
        xmlNode* copy = xmlAddChild(parent, copy_of_current());
        if (m_xml.is_empty())
            return;
        const bool is_top_level_state = parent == m_root && m_xml.name() != "Nested";
        std::size_t children = 0;
        for (Node child = m_xml.next(); child != Node::element_end; child = m_xml.next()) {
            add_node(copy, child);
            if (is_top_level_state && ++children % most_children == 0) {
                check_tree();
                remove_children(copy);
            }
        }
    }

    xmlNode* copy_of_current()
    {
        constexpr int without_children = 2;
        return xmlDocCopyNode(m_xml.node(), m_document.get(), without_children);
    }

    bool check()
    {
        check_tree();
        remove_children(m_root);
        return !std::exchange(m_is_invalid, false);
    }

    /* Reports what is wrong unless something of the same entry was reported before. */
    void check_tree()
    {
        m_reason.clear();
        if (m_is_invalid || xmlRelaxNGValidateDoc(m_context.get(), m_document.get()) == 0)
            return;
        m_is_invalid = true;
        m_problems.add(m_line, m_reason);
    }

    static void remove_children(xmlNode* element)
    {
        while (xmlNode* child = element->children) {
            xmlUnlinkNode(child);
            xmlFreeNode(child);
        }
    }

    /* The first complaint is the one about the cause. */
    void remember(const xmlError& error)
    {
        if (m_reason.empty())
            m_reason = detail::one_line(error.message);
    }

    XmlReader& m_xml;
    Problems& m_problems;
    ValidContext m_context;
    Document m_document;
    xmlNode* m_root = nullptr;
    std::int64_t m_line = 0;
    std::string m_reason;
    bool m_is_invalid = false; ///< the current entry
};

void validate_trace(const std::string& path, Problems& problems)
{
    detail::WholeLines lines(path, "</Program>");
    XmlReader xml(path, lines);
    TraceValidator validator(xml, problems);
    try {
        validator.run();
    } catch (const detail::EndOfData& end) {
        problems.add(end.line(), "the trace is cut off: " +
                                     detail::missing_end(lines, xml.lines_read(), validator.has_root()) +
                                     " is missing");
    }
}

void validate_project(const std::string& path, Problems& problems)
{
    detail::File file(path);
    XmlReader xml(path, file);
    xml.validate_with(project_schema(),
                      [&](std::int64_t line, const std::string& reason) { problems.add(line, reason); });
    while (xml.next() != Node::document_end && !problems.are_many()) {
    }
}

} // namespace

std::vector<std::string> validate(const std::string& path)
{
    Problems problems(path);
    try {
        if (detail::plain_name(path).ends_with(".trc"))
            validate_trace(path, problems);
        else if (path.ends_with(".proj"))
            validate_project(path, problems);
        else
            problems.add(0, "there is a schema for .trc and .proj only");
    } catch (const ReadError& error) {
        problems.add(error);
    }
    return problems.take();
}

} // namespace hdtrace
