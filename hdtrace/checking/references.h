// references.h - that calls name objects which the project describes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "hdtrace/checking/findings.h"

namespace hdtrace {

/// Needs nothing but one call at a time. What the program tells of its own regions and moments has names of
/// its own.
class ReferenceCheck {
  public:
    /// @p objects must outlive it.
    explicit ReferenceCheck(const ObjectTable& objects) : m_objects(objects) {}

    /// A state with those in it.
    void check(const TraceFile& trace, const State& state);
    /// Once all are checked.
    void report(Findings& findings) const;

  private:
    /// An attribute that names an object.
    struct Name {
        AttributeName attribute;
        ObjectKind kind;
    };

    /// By the slot of the key.
    using Names = std::array<std::vector<Name>, 64>;

    static Names names();
    static std::uint64_t bits_of(const Names& names);
    void check(const TraceFile& trace, const State& state, const Element& element);
    bool is_described(ObjectKind kind, std::int64_t rank, std::int64_t id) const;

    /// The first call that names an object that is not described.
    struct Unknown {
        CallPlace place;
        std::string call;
        std::string attribute, value;
    };
    using ObjectId = std::tuple<std::int64_t, ObjectKind, std::int64_t>; // rank, kind, id

    const ObjectTable& m_objects;
    const Names m_names = names();
    const std::uint64_t m_bits = bits_of(m_names);
    std::map<ObjectId, Unknown> m_unknown;
};

} // namespace hdtrace
