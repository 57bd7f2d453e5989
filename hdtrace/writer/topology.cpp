#include "hdtrace/writer/topology.h"

#include "hdtrace/writer/api_support.h"
#include "hdtrace/writer/file_name.h"
#include "hdtrace/writer/own_memory.h"

namespace hdtrace {

namespace {

bool is_good(const char* name)
{
    return name != nullptr && *name != '\0' && strchr(name, ';') == nullptr;
}

int set_project(hdTopology& topology, const char* project)
{
    topology.project.string(project).bytes("", 1);
    return topology.project.bad() ? ENOMEM : 0;
}

int set_path(hdTopoNode& node)
{
    append_first_label(node.path, node.topology->project.data());
    for (int i = 0; i < node.labels.count(); ++i)
        append_file_label(node.path.text("_"), node.labels[i]);
    node.path.bytes("", 1);
    return node.path.bad() ? ENOMEM : 0;
}

} // namespace

NameList::~NameList()
{
    for (int i = 0; i < m_count; ++i)
        own_free(m_names[i]);
    own_free(m_names);
}

int NameList::copy(const char* const* names, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!is_good(names[i]))
            return HD_ERR_INVALID_ARGUMENT;
    }
    m_names = static_cast<char**>(own_calloc(static_cast<size_t>(count), sizeof *m_names));
    if (m_names == nullptr)
        return ENOMEM;
    for (; m_count < count; ++m_count) {
        m_names[m_count] = own_strdup(names[m_count]);
        if (m_names[m_count] == nullptr)
            return ENOMEM;
    }
    return 0;
}

} // namespace hdtrace

using namespace hdtrace;

hdTopology* hdT_createTopology(const char* project, const char* const* levels, int count)
{
    if (project == nullptr || *project == '\0' || levels == nullptr || count < 1)
        return no_object(HD_ERR_INVALID_ARGUMENT);
    hdTopology* const topology = create<hdTopology>();
    if (topology == nullptr)
        return no_object(ENOMEM);
    int error = topology->levels.copy(levels, count);
    if (error == 0)
        error = set_project(*topology, project);
    if (error == 0)
        return topology;
    destroy(topology);
    return no_object(error);
}

int hdT_getTopoDepth(const hdTopology* topology)
{
    return topology != nullptr ? topology->levels.count() : result(HD_ERR_INVALID_ARGUMENT);
}

int hdT_destroyTopology(hdTopology* topology)
{
    if (topology == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    destroy(topology);
    return 0;
}

hdTopoNode* hdT_createTopoNode(const hdTopology* topology, const char* const* labels, int count)
{
    if (topology == nullptr || labels == nullptr || count < 1 || count > topology->levels.count())
        return no_object(HD_ERR_INVALID_ARGUMENT);
    hdTopoNode* const node = create<hdTopoNode>();
    if (node == nullptr)
        return no_object(ENOMEM);
    node->topology = topology;
    int error = node->labels.copy(labels, count);
    if (error == 0)
        error = set_path(*node);
    if (error == 0)
        return node;
    destroy(node);
    return no_object(error);
}

int hdT_getTopoNodeLevel(const hdTopoNode* node)
{
    return node != nullptr ? node->labels.count() : result(HD_ERR_INVALID_ARGUMENT);
}

const char* hdT_getTopoPathLabel(const hdTopoNode* node, int level)
{
    if (node == nullptr || level < 1 || level > node->labels.count())
        return no_object(HD_ERR_INVALID_ARGUMENT);
    return node->labels[level - 1];
}

const char* hdT_getTopoPathString(const hdTopoNode* node)
{
    return node != nullptr ? node->path.data() : static_cast<const char*>(no_object(HD_ERR_INVALID_ARGUMENT));
}

int hdT_destroyTopoNode(hdTopoNode* node)
{
    if (node == nullptr)
        return result(HD_ERR_INVALID_ARGUMENT);
    destroy(node);
    return 0;
}
