// objects.h - finds the objects of a project by the ids that its traces use.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hdtrace/format/element.h"
#include "hdtrace/format/proj_reader.h"

namespace hdtrace {

/// An index of a project's objects. Ids are those of one process, so each question names the process by its
/// rank in MPI_COMM_WORLD. Answers belong to the project; null means that it does not have the object. Any
/// number of threads may ask at the same time.
class ObjectTable {
  public:
    /// @p project must outlive the table and stay as it is.
    explicit ObjectTable(const Project& project);

    const Project& project() const { return *m_project; }

    const Communicator* communicator(std::int64_t rank, std::int64_t cid) const;
    const ProjectFile* file(std::int64_t rank, std::int64_t fid) const;
    const Datatype* datatype(std::int64_t rank, std::int64_t tid) const;
    const Window* window(std::int64_t rank, std::int64_t wid) const;
    const CallSite* call_site(std::int64_t rank, std::int64_t site) const;

    /// The objects that a call of process @p rank names in `cid`, `fid`, `tid`, `wid` or the older spellings
    /// of these; other attributes, such as `newcid` or `etid`, by their name.
    const Communicator* communicator(std::int64_t rank, const Element& call,
                                     const AttributeName& attribute = "cid") const;
    const ProjectFile* file(std::int64_t rank, const Element& call,
                            const AttributeName& attribute = "fid") const;
    const Datatype* datatype(std::int64_t rank, const Element& call,
                             const AttributeName& attribute = "tid") const;
    const Window* window(std::int64_t rank, const Element& call,
                         const AttributeName& attribute = "wid") const;
    /// Where process @p rank made a call, by its `site`.
    const CallSite* call_site(std::int64_t rank, const Element& call) const;

  private:
    /// How consecutive processes number call sites.
    struct Sites {
        SiteIds::Ranks ranks;
        const SiteIds* ids;
    };
    /// Objects by a rank and the number that the process gave them.
    template <class Object> class Index {
      public:
        /// Of several with the same number the first one counts.
        void add(std::int64_t rank, std::int64_t number, const Object& object);
        /// When all are there.
        void sort();
        const Object* find(std::int64_t rank, std::int64_t number) const;

      private:
        struct Entry {
            std::pair<std::int64_t, std::int64_t> id; ///< rank and number
            const Object* object;
        };

        std::vector<Entry> m_entries; ///< by id
        /// Where those of each rank begin, and where the last ones end. Empty where ranks are far from each
        /// other.
        std::vector<std::uint32_t> m_begin;
    };

    template <class Object>
    static const Object* find_named(const Index<Object>& index, std::int64_t rank, const Element& call,
                                    const AttributeName& attribute);

    const Project* m_project;
    Index<Communicator> m_communicators;
    Index<ProjectFile> m_files;
    Index<Datatype> m_datatypes;
    Index<Window> m_windows;
    std::span<const CallSite> m_call_sites;
    std::vector<Sites> m_sites; ///< in the order of the ranks
};

} // namespace hdtrace
