// Traces as the original readers and the simulator take them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "merger/export/account.h"
#include "merger/export/piosimhd/contents.h"
#include "merger/export/piosimhd/simulated.h"
#include "merger/export/text_output.h"

namespace hdtrace::exporter::piosimhd {

/// What all traces have in common.
struct CopyContext {
    const Contents& contents;
    const ObjectTable& objects;
    const Simulated& simulated;
    std::int64_t base_second = 0; ///< since the epoch, which all times are relative to
    Account& account;
};

/// One trace. For the simulator its calls have the names of commands that they are done like; what it cannot
/// do has a name that it does not know, and is computation for it.
class TraceCopy {
  public:
    TraceCopy(const CopyContext& context, const Leaf& leaf, TextOutput& output);

    /// Throws OpenError, ReadError, and what the output throws.
    void write();

  private:
    void write_state(State& state);
    const char* adapt(State& state);
    const char* adapt_command(State& state, const Command& command);
    const char* adapt_file_call(State& state, const Command& command);
    const char* adapt_exchange(State& state);
    void open_file(State& state, std::int64_t fid);
    void write_xml(const State& state);
    void write_attributes(const Element& element);
    void write_time(const char* name, std::int64_t time);

    CopyContext m_context;
    const Leaf& m_leaf;
    TextOutput& m_output;
    std::size_t m_number = 0;           ///< of the state, from 1 on
    std::map<std::int64_t, int> m_open; ///< how often each file is open
    bool m_folds = false;               ///< whether the state lost elements for the calls inside it
};

} // namespace hdtrace::exporter::piosimhd
