// type_signature.h - which basic types a datatype consists of, in the order of its data (MPI 4.1, 5.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hdtrace/format/objects.h"

namespace hdtrace {

/// "integer of 4 bytes"
std::string sized(std::string_view family, std::int64_t size);

/// So many values of one basic type.
struct BasicTypes {
    std::string type; ///< "integer of 4 bytes": types that different languages call otherwise are equal
    std::int64_t count = 0;
    std::int64_t size = 0; ///< of one value, in bytes
};

/// Neighbours differ.
using TypeSignature = std::vector<BasicTypes>;

/// Elements of a datatype.
struct TypedData {
    std::int64_t count = -1;                  ///< -1 is unknown
    const TypeSignature* signature = nullptr; ///< of one element; null if it is not known
};

/// The signatures of the datatypes of a project, made when they are asked for.
class TypeSignatures {
  public:
    /// @p objects must outlive this.
    explicit TypeSignatures(const ObjectTable& objects) : m_objects(objects) {}

    /// Null if the project does not tell what the type is made of, or if that is too much to be compared.
    const TypeSignature* find(std::int64_t rank, std::int64_t tid);

    /// What @p element says in two attributes.
    TypedData data(std::int64_t rank, const Element& element, const AttributeName& count,
                   const AttributeName& tid);

  private:
    std::optional<TypeSignature> make(std::int64_t rank, const Datatype& datatype);

    const ObjectTable& m_objects;
    std::unordered_map<const Datatype*, std::optional<TypeSignature>> m_signatures;
    int m_depth = 0;
};

/// Where two sequences of basic types differ first; nothing as far as the shorter one goes, or where one of
/// them is packed or not known.
struct TypeDifference {
    std::string first;
    std::string second;
};
std::optional<TypeDifference> difference(const TypedData& first, const TypedData& second);

} // namespace hdtrace
