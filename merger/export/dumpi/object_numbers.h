// Which numbers the objects of one process have in its file: predefined ones those of DUMPI, others
// consecutive ones in the order in which the process first names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/type_map.h"
#include "merger/dumpi/constants.h"

namespace hdtrace::exporter::dumpi {

/// A number; 0, which readers print as an error, if there are more objects than the files can tell apart.
using Number = std::uint32_t;

/// Objects of one kind that have an id of some sort.
template <class Id> class Numbers {
  public:
    Numbers(Number first, Number last) : m_next(first), m_last(last) {}

    Number of(const Id& id)
    {
        const auto [found, is_new] = m_numbers.try_emplace(id, 0);
        if (is_new && m_next <= m_last)
            found->second = m_next++;
        return found->second;
    }

  private:
    Number m_next;
    Number m_last;
    std::unordered_map<Id, Number> m_numbers;
};

/// Objects of one kind of which traces do not tell the identity: whoever uses one uses the last one that was
/// made.
class NamelessNumbers {
  public:
    NamelessNumbers(Number first, Number last, Number null) : m_next(first), m_last(last), m_null(null) {}

    Number make();
    /// @p frees: and then it is gone.
    Number last(bool frees);
    /// Whether last() can only be right.
    bool is_sure() const { return m_alive.size() == 1; }

  private:
    Number m_next;
    Number m_last;
    Number m_null;
    std::vector<Number> m_alive;
};

class ObjectNumbers {
  public:
    ObjectNumbers(const ObjectTable& objects, std::int64_t rank, std::string world_group);

    Number datatype(std::int64_t tid);
    /// By its members, as they stand in the trace.
    Number group(std::string_view members);
    Number file(std::int64_t fid) { return fid < 0 ? 0 : m_files.of(fid); }
    Number window(std::int64_t wid) { return wid < 0 ? 0 : m_windows.of(wid); }
    /// By what the trace calls it.
    Number key(std::string_view key);
    Number operation(std::string_view name);
    Number request(std::int64_t rid) const;

    /// A persistent request is started: this operation is one of it.
    void start(std::int64_t rid, std::int64_t persistent) { m_persistent[rid] = persistent; }
    /// Nobody hears of this request: DUMPI does not know who makes it.
    void hide(std::int64_t rid) { m_hidden.insert(rid); }
    bool is_hidden(std::int64_t rid) const { return m_hidden.contains(rid); }
    void forget(std::int64_t rid);

    /// Of the datatypes by their numbers, in bytes; 0 is unknown.
    const std::vector<std::int32_t>& datatype_sizes() const { return m_sizes; }

    NamelessNumbers operations{hdtrace::dumpi::first_operation, 255, hdtrace::dumpi::null_operation};
    NamelessNumbers infos{hdtrace::dumpi::first_info, 65535, 0};
    NamelessNumbers errhandlers{hdtrace::dumpi::first_errhandler, 65535, hdtrace::dumpi::null_errhandler};

  private:
    std::int64_t size_of(std::int64_t tid, const Datatype& datatype);

    const ObjectTable& m_objects;
    std::int64_t m_rank;
    std::string m_world_group;
    TypeMaps m_maps;
    std::unordered_map<std::int64_t, Number> m_known_datatypes;
    Numbers<std::int64_t> m_datatypes{hdtrace::dumpi::first_datatype, 65535};
    Numbers<std::string> m_groups{hdtrace::dumpi::first_group, 65535};
    Numbers<std::int64_t> m_files{hdtrace::dumpi::first_file, 65535};
    Numbers<std::int64_t> m_windows{hdtrace::dumpi::first_window, 65535};
    Numbers<std::string> m_keys{hdtrace::dumpi::first_key, 65535};
    std::unordered_map<std::int64_t, std::int64_t> m_persistent; ///< of operations the request
    std::unordered_set<std::int64_t> m_hidden;
    std::vector<std::int32_t> m_sizes;
};

} // namespace hdtrace::exporter::dumpi
