// How a datatype was made.
#pragma once

#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/library/mpi_api.h"

namespace hdtrace::mpi {

/// What MPI_Type_get_envelope and MPI_Type_get_contents tell. Frees what it was given.
class TypeContents {
  public:
    explicit TypeContents(MPI_Datatype handle);
    TypeContents(const TypeContents&) = delete;
    TypeContents& operator=(const TypeContents&) = delete;
    ~TypeContents();

    bool is_named() const { return m_combiner == MPI_COMBINER_NAMED; }
    /// It is never freed.
    bool is_predefined() const { return is_predefined(m_combiner); }
    /// Without "MPI_COMBINER_".
    const char* combiner() const;
    /// The datatypes that it was made of; none if memory is short.
    int type_count() const { return m_is_complete ? static_cast<int>(m_sizes.types) : 0; }
    const MPI_Datatype* types() const { return m_types; }

    /// Appends "1;2;3;", where an indexed type has very many with runs, "0+8*1000;". Large counts stand where
    /// the older form has integers or addresses.
    void add_integers(TextBuffer& line) const;
    void add_addresses(TextBuffer& line) const;

  private:
    struct Sizes {
#ifdef HDT_HAS_MPI_Type_get_contents_c
        MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
#else
        int integers = 0, addresses = 0, large_counts = 0, types = 0;
#endif
        /// Returns the combiner.
        int read(MPI_Datatype handle);
    };

    static bool is_predefined(int combiner);
    static void free_unless_predefined(MPI_Datatype handle);
    int read(MPI_Datatype handle);
    bool is_darray() const
    {
        return m_combiner == MPI_COMBINER_DARRAY;
    }
    bool has_order() const
    {
        return is_darray() || m_combiner == MPI_COMBINER_SUBARRAY;
    }
    /// It may have millions of blocks.
    bool is_indexed() const;
    MPI_Count large_integer_count() const;
    MPI_Count integer_count() const
    {
        return m_sizes.integers + large_integer_count();
    }
    MPI_Count integer(MPI_Count index) const;
    void add_integer(TextBuffer& line, MPI_Count index) const;

    Sizes m_sizes;
    int m_combiner = MPI_COMBINER_NAMED;
    int* m_integers = nullptr;
    MPI_Aint* m_addresses = nullptr;
    MPI_Count* m_large_counts = nullptr;
    MPI_Datatype* m_types = nullptr;
    bool m_is_complete = false;
};

} // namespace hdtrace::mpi
