#include "hdtrace/format/validate.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <libxml/relaxng.h>
#include <libxml/tree.h>

#include "hdtrace/format/cut_off.h"
#include "hdtrace/format/doubtful_lines.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/schemas.h"
#include "hdtrace/format/trace_lines.h"
#include "hdtrace/format/xml_reader.h"
#include "hdtrace/format/xml_states.h"

namespace hdtrace {

using detail::Node;
using detail::XmlReader;

namespace {

constexpr std::size_t most_problems = 100;
constexpr std::size_t most_children = 20; ///< that are checked together

template <auto free> struct Free {
    template <class Pointer> void operator()(Pointer* pointer) const { free(pointer); }
};
using ParserContext = std::unique_ptr<xmlRelaxNGParserCtxt, Free<xmlRelaxNGFreeParserCtxt>>;
using Schema = std::unique_ptr<xmlRelaxNG, Free<xmlRelaxNGFree>>;
using ValidContext = std::unique_ptr<xmlRelaxNGValidCtxt, Free<xmlRelaxNGFreeValidCtxt>>;
using Document = std::unique_ptr<xmlDoc, Free<xmlFreeDoc>>;
using OwnedNode = std::unique_ptr<xmlNode, Free<xmlFreeNode>>;

// The first one also fills libxml2's tables of types, which all threads share.
Schema parse_schema(std::string_view text)
{
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const ParserContext parser(xmlRelaxNGNewMemParserCtxt(text.data(), static_cast<int>(text.size())));
    Schema schema(xmlRelaxNGParse(parser.get()));
    if (!schema)
        throw std::logic_error("a schema of hdtrace is not RELAX NG");
    return schema;
}

// Parsing a schema takes longer than checking a small trace.
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

// What is wrong where.
struct Complaint {
    std::int64_t line = 0;
    std::string reason;
};

class Problems {
  public:
    explicit Problems(const std::string& file) : m_file(file) {}

    bool are_many() const { return m_problems.size() >= most_problems; }
    void add(const ReadError& error)
    {
        m_problems.push_back(
            {Problem::Kind::syntax, error.file(), error.line(), error.column(), error.reason()});
    }
    void add(const Complaint& complaint, Problem::Kind kind = Problem::Kind::schema)
    {
        if (!are_many())
            m_problems.push_back({kind, m_file, complaint.line, 0, complaint.reason});
    }
    std::vector<Problem> take() { return std::move(m_problems); }

  private:
    std::string m_file;
    std::vector<Problem> m_problems;
};

std::int64_t line_of(const xmlNode* node)
{
    return reinterpret_cast<std::intptr_t>(node->_private);
}

// What was read of a document and has to be checked together. libxml2 checks the whole of an element whose
// pattern leaves a choice, in time that grows with the square of how many elements it has; so it is shown
// some of them at a time.
class PartialDocument {
  public:
    PartialDocument(XmlReader& xml, xmlRelaxNG* schema)
        : m_xml(xml), m_context(xmlRelaxNGNewValidCtxt(schema)), m_document(xmlNewDoc(nullptr))
    {
        const xmlStructuredErrorFunc on_error = [](void* self, auto* error) {
            static_cast<PartialDocument*>(self)->remember(*error);
        };
        xmlRelaxNGSetValidStructuredErrors(m_context.get(), on_error, this);
    }
    PartialDocument(const PartialDocument&) = delete;
    PartialDocument& operator=(const PartialDocument&) = delete;

    // The current element with its attributes, which has no place yet.
    OwnedNode copy_element()
    {
        constexpr int without_children = 2;
        m_xml.count_attributes();
        OwnedNode copy(xmlDocCopyNode(m_xml.node(), m_document.get(), without_children));
        remember_line_of(copy.get());
        return copy;
    }

    xmlNode* add_root()
    {
        xmlNode* root = copy_element().release();
        xmlDocSetRootElement(m_document.get(), root);
        return root;
    }

    xmlNode* add_element(xmlNode* parent) { return xmlAddChild(parent, copy_element().release()); }

    void add_text(xmlNode* parent)
    {
        xmlNodeAddContent(parent, BAD_CAST std::string(m_xml.text()).c_str());
        remember_line_of(parent->last);
    }

    // The current element with all that it contains, or the current text.
    void add(xmlNode* parent, Node node)
    {
        if (node == Node::text)
            return add_text(parent);
        xmlNode* element = add_element(parent);
        if (!m_xml.is_empty())
            for (Node child = m_xml.next(); child != Node::element_end; child = m_xml.next())
                add(element, child);
    }

    // What a function of libxml2's says about the document or an element of it.
    template <class Check> bool holds(Check check)
    {
        m_complaint = {m_xml.line(), {}};
        return check(m_context.get(), m_document.get());
    }

    // What libxml2 said last.
    const Complaint& complaint() const { return m_complaint; }

  private:
    // libxml2 counts lines of elements only up to 65535.
    void remember_line_of(xmlNode* node)
    {
        node->_private = reinterpret_cast<void*>(static_cast<std::intptr_t>(m_xml.line()));
    }

    // The first complaint is the one about the cause.
    void remember(const xmlError& error)
    {
        if (!m_complaint.reason.empty())
            return;
        m_complaint.reason = detail::one_line(error.message);
        auto* node = static_cast<const xmlNode*>(error.node);
        while (node && !node->_private)
            node = node->parent;
        if (node)
            m_complaint.line = line_of(node);
    }

    XmlReader& m_xml;
    ValidContext m_context;
    Document m_document;
    Complaint m_complaint;
};

/// Traces and projects of the original tools (2009 to 2012) have none.
bool has_version(const xmlNode* root)
{
    return xmlHasProp(root, BAD_CAST "version") != nullptr;
}

void add_no_schema(Problems& problems, std::int64_t line)
{
    problems.add(
        {line, "there is no schema for files without a version, such as those of the original tools"},
        Problem::Kind::no_schema);
}

void remove(xmlNode* node)
{
    xmlUnlinkNode(node);
    xmlFreeNode(node);
}

void remove_children(xmlNode* element)
{
    while (element->children)
        remove(element->children);
}

// Checks a trace entry by entry. Since entries may follow each other in any number, a trace is valid if its
// root with each of them is; and what is nested in a state is valid if its entries are those of a trace. In
// the same way a state with many children is checked with some of them at a time.
class TraceValidator {
  public:
    TraceValidator(XmlReader& xml, Problems& problems)
        : m_xml(xml), m_problems(problems), m_document(xml, trace_schema())
    {
    }

    void run()
    {
        m_xml.limit_items(detail::XmlStates::most_items);
        m_xml.next();
        m_root = m_document.add_root();
        if (!has_version(m_root)) {
            add_no_schema(m_problems, m_xml.line());
            m_xml.skip();
        } else if (!check_entry()) {
            return;
        } else if (!m_xml.is_empty()) {
            add_entries();
        }
        m_xml.next();
    }

    bool has_root() const { return m_root != nullptr; }

  private:
    void add_entries()
    {
        for (Node node = m_xml.next(); node != Node::element_end && !m_problems.are_many();
             node = m_xml.next())
            add_entry(node);
        check_left_over();
    }

    void add_entry(Node node)
    {
        m_line = m_xml.line();
        if (node == Node::text)
            m_document.add_text(m_root);
        else if (m_xml.name() == "Nested")
            return add_nested();
        else
            add_state();
        check_entry();
    }

    // Waits for its owner after what it contains was checked.
    void add_nested()
    {
        check_left_over();
        OwnedNode nested = m_document.copy_element();
        if (!m_xml.is_empty())
            add_entries();
        xmlAddChild(m_root, nested.release());
    }

    void add_state()
    {
        xmlNode* state = m_document.add_element(m_root);
        if (m_xml.is_empty())
            return;
        std::size_t unchecked = 0;
        for (Node child = m_xml.next(); child != Node::element_end; child = m_xml.next()) {
            m_document.add(state, child);
            if (++unchecked == most_children) {
                check();
                remove_children(state);
                unchecked = 0;
            }
        }
    }

    // A Nested without an owner behind it.
    void check_left_over()
    {
        if (m_root->children)
            check_entry();
    }

    bool check_entry()
    {
        check();
        remove_children(m_root);
        return !std::exchange(m_is_invalid, false);
    }

    // Reports one problem of an entry.
    void check()
    {
        if (m_is_invalid)
            return;
        m_xml.forget_items(); // of which the most will be removed
        m_is_invalid = !m_document.holds(
            [](auto* context, auto* document) { return xmlRelaxNGValidateDoc(context, document) == 0; });
        if (!m_is_invalid)
            return;
        Complaint complaint = m_document.complaint();
        complaint.line = std::max(complaint.line, m_line); // of text libxml2 names the parent
        m_problems.add(complaint);
    }

    XmlReader& m_xml;
    Problems& m_problems;
    PartialDocument m_document;
    xmlNode* m_root = nullptr;
    std::int64_t m_line = 0;   ///< of the current entry
    bool m_is_invalid = false; ///< the current entry
};

// Checks a project element by element, as far as its schema leaves no choice; communicators, datatypes and
// what else has attributes that may be missing are checked whole. What may follow itself there may do so any
// number of times, and comes last: so of many children some are checked at a time, together with the last one
// before them.
class ProjectValidator {
  public:
    ProjectValidator(XmlReader& xml, Problems& problems)
        : m_xml(xml), m_problems(problems), m_document(xml, project_schema())
    {
    }

    void run()
    {
        m_xml.next();
        xmlNode* root = m_document.add_root();
        if (has_version(root)) {
            add_content(root);
        } else {
            add_no_schema(m_problems, m_xml.line());
            m_xml.skip();
        }
        m_xml.next();
    }

  private:
    void add_content(xmlNode* element)
    {
        int answer = 0;
        step([&](auto* context, auto* document) {
            answer = xmlRelaxNGValidatePushElement(context, document, element);
            return answer >= 0;
        });
        while (element->prev) // libxml2 may point to it until it gets the next element
            remove(element->prev);
        if (is_over())
            m_xml.skip();
        else if (answer == 0)
            add_whole(element);
        else
            add_in_parts(element);
    }

    void add_in_parts(xmlNode* element)
    {
        if (!m_xml.is_empty())
            for (Node node = m_xml.next(); node != Node::element_end; node = m_xml.next())
                add_part(element, node);
        step([&](auto* context, auto* document) {
            return xmlRelaxNGValidatePopElement(context, document, element) >= 0;
        });
    }

    void add_part(xmlNode* parent, Node node)
    {
        if (node == Node::element)
            return add_content(m_document.add_element(parent));
        step([&](auto* context, auto*) {
            const std::string text(m_xml.text());
            return xmlRelaxNGValidatePushCData(context, BAD_CAST text.c_str(),
                                               static_cast<int>(text.size())) >= 0;
        });
    }

    // Goes on in the schema.
    template <class Check> void step(Check check)
    {
        if (is_over() || m_document.holds(check))
            return;
        m_is_lost = true;
        m_problems.add({m_xml.line(), m_document.complaint().reason});
    }

    // What follows is only read.
    bool is_over() const { return m_is_lost || m_problems.are_many(); }

    void add_whole(xmlNode* element)
    {
        bool is_valid = true;
        std::size_t unchecked = 0;
        if (!m_xml.is_empty())
            for (Node child = m_xml.next(); child != Node::element_end; child = m_xml.next()) {
                m_document.add(element, child);
                if (++unchecked < most_children || !repeats_the_one_before(element->last))
                    continue;
                is_valid = is_valid && check_whole(element);
                unchecked = 0;
                while (repeats_the_one_before(element->last))
                    remove(element->last->prev);
            }
        if (is_valid)
            check_whole(element);
    }

    bool check_whole(xmlNode* element)
    {
        if (is_whole(element))
            return true;
        Complaint complaint = m_document.complaint();
        if (const std::int64_t line = remove_what_is_wrong(element))
            complaint.line = line;
        m_problems.add(complaint);
        return false;
    }

    // The line of the first child that does not belong there; 0 if something else is wrong. libxml2 names the
    // first of all children instead.
    std::int64_t remove_what_is_wrong(xmlNode* element)
    {
        while (element->last) {
            const std::int64_t line = line_of(element->last);
            remove(element->last);
            if (is_whole(element))
                return line;
        }
        return 0;
    }

    bool is_whole(xmlNode* element)
    {
        element->psvi = nullptr; // by which libxml2 knows what it has checked
        return m_document.holds([&](auto* context, auto* document) {
            return xmlRelaxNGValidateFullElement(context, document, element) >= 0;
        });
    }

    static bool repeats_the_one_before(const xmlNode* element)
    {
        return element && element->prev && xmlStrEqual(element->name, element->prev->name);
    }

    XmlReader& m_xml;
    Problems& m_problems;
    PartialDocument m_document;
    bool m_is_lost = false; ///< libxml2 does not know where in the schema it is
};

bool is_valid_trace(std::string_view text, std::size_t most_items)
{
    Problems problems{std::string()};
    try {
        detail::TextSource source(text, most_items);
        XmlReader xml({}, source);
        TraceValidator(xml, problems).run();
    } catch (const ReadError&) {
        return false;
    }
    return problems.take().empty();
}

void validate_trace(const std::string& path, Validate what, Problems& problems)
{
    detail::WholeLines lines(path, std::string(detail::closing));
    detail::DoubtfulLines doubtful(lines, [&](const std::string& beginning, std::string_view line) {
        return is_valid_trace(beginning + std::string(line) + std::string(detail::closing),
                              lines.most_items());
    });
    if (what == Validate::root && doubtful.has_valid_root())
        return;
    XmlReader xml(path, doubtful);
    TraceValidator validator(xml, problems);
    try {
        validator.run();
    } catch (const detail::EndOfData& end) {
        const std::string missing = detail::missing_end(lines, xml.lines_read(), validator.has_root());
        problems.add({end.line(), "the trace is cut off: " + missing + " is missing"},
                     Problem::Kind::cut_off);
    }
}

void validate_project(const std::string& path, Problems& problems)
{
    detail::File file(path);
    XmlReader xml(path, file);
    ProjectValidator(xml, problems).run();
}

} // namespace

std::string to_string(const Problem& problem)
{
    return ReadError(problem.file, problem.line, problem.column, problem.text).what();
}

std::vector<Problem> validate(const std::string& path, Validate what)
{
    Problems problems(path);
    try {
        if (detail::plain_name(path).ends_with(".trc"))
            validate_trace(path, what, problems);
        else if (path.ends_with(".proj"))
            validate_project(path, problems);
        else
            problems.add({0, "there is a schema for .trc and .proj only"}, Problem::Kind::no_schema);
    } catch (const ReadError& error) {
        problems.add(error);
    }
    return problems.take();
}

} // namespace hdtrace
