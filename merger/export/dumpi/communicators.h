// The communicators and windows of a project: which number each has in all files, and which rank a process
// has in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hdtrace/format/proj_reader.h"

namespace hdtrace::exporter::dumpi {

/// The members of a communicator or a window.
class Members {
  public:
    Members() = default;
    explicit Members(const std::vector<Communicator::Member>& members);
    explicit Members(const std::vector<Window::Member>& members);

    /// The rank of a process by its rank in the project; nothing if it is no member.
    std::optional<std::int64_t> rank(std::int64_t global) const;
    /// The same as process @p me means it: in an inter-communicator ranks are those in the other group.
    std::optional<std::int64_t> peer(std::int64_t me, std::int64_t global) const;
    /// How many there are in the group of a process; 0 if it is no member.
    std::int64_t group_size(std::int64_t global) const;
    bool is_intercommunicator() const { return m_sizes.size() > 1; }
    /// Their ranks in the project, in the order of their ranks; without those of the group that is not first.
    std::vector<std::int64_t> in_order() const;

  private:
    struct Member {
        std::int64_t global;
        std::int64_t group;
        std::int64_t local;
        auto operator<=>(const Member&) const = default;
    };

    void sort();
    const Member* find(std::int64_t global) const;

    std::vector<Member> m_members;                ///< ascending
    std::map<std::int64_t, std::int64_t> m_sizes; ///< of each group
};

class Communicators {
  public:
    explicit Communicators(const Project& project);

    /// A communicator has one number in the files of all its members, as simulators want it.
    std::uint32_t number(const Communicator* communicator) const;
    /// Nobody is a member of what is not known.
    const Members& members(const Communicator* communicator) const;
    const Members& members(const Window* window) const;

  private:
    Members m_nobody;
    std::unordered_map<const Communicator*, std::uint32_t> m_numbers;
    std::unordered_map<const Communicator*, Members> m_communicators;
    std::unordered_map<const Window*, Members> m_windows;
};

} // namespace hdtrace::exporter::dumpi
