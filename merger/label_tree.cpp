#include "merger/label_tree.h"

#include <map>

namespace hdtrace::merger {

namespace {

/// Positions of the labels among their siblings while the tree grows.
struct Index {
    std::size_t position = 0;
    std::map<std::string, Index> children;
};

LabelTree::Node& child(std::vector<LabelTree::Node>& siblings, Index*& index, const std::string& label)
{
    const auto [known, is_new] = index->children.try_emplace(label);
    if (is_new) {
        known->second.position = siblings.size();
        siblings.push_back({label, {}});
    }
    index = &known->second;
    return siblings[index->position];
}

} // namespace

LabelTree::LabelTree(const MergedProject& project)
{
    Index root;
    for (const MergedProcess& process : project.processes) {
        std::vector<Node>* siblings = &m_roots;
        Index* index = &root;
        std::vector<std::string> labels = process.name.labels;
        if (project.has_worlds()) // the name has the rank in the world
            labels.back() = std::to_string(process.rank);
        for (const std::string& label : labels)
            siblings = &child(*siblings, index, label).children;
        for (const std::string& thread : process.threads) {
            Index* leaf = index;
            child(*siblings, leaf, thread);
        }
    }
}

} // namespace hdtrace::merger
