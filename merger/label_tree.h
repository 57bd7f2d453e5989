// The tree of labels that leads to the traces.
#pragma once

#include "merger/merged_project.h"

#include <string>
#include <vector>

namespace hdtrace::merger {

class LabelTree {
  public:
    struct Node {
        std::string label;
        std::vector<Node> children;
    };

    explicit LabelTree(const MergedProject& project);

    /// Siblings have different labels and are in the order of the processes.
    const std::vector<Node>& roots() const { return m_roots; }

  private:
    std::vector<Node> m_roots;
};

} // namespace hdtrace::merger
