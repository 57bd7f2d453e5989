// The place of a trace among those of its project: the types behind the C API.
#pragma once

#include "hdTrace.h"
#include "hdtrace/writer/text_buffer.h"

namespace hdtrace {

/// Copies of the names of levels or of the labels of a path.
class NameList {
  public:
    NameList() = default;
    NameList(const NameList&) = delete;
    NameList& operator=(const NameList&) = delete;
    ~NameList();

    /// To be called once. Returns 0, ENOMEM, or HD_ERR_INVALID_ARGUMENT if a name is empty or has a ';',
    /// which separates names in the .info.
    int copy(const char* const* names, int count);
    int count() const { return m_count; }
    const char* operator[](int index) const { return m_names[index]; }

  private:
    char** m_names = nullptr;
    int m_count = 0;
};

} // namespace hdtrace

struct hdTopology {
    hdtrace::TextBuffer project; // with a final NUL
    hdtrace::NameList levels;
};

struct hdTopoNode {
    const hdTopology* topology;
    hdtrace::NameList labels;
    hdtrace::TextBuffer path; // with a final NUL
};
