// Rules for the identity of new communicators (docs/identity.md). Every member calls them in the same order,
// also those that got MPI_COMM_NULL. The word says how it was made, for its name.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"

namespace hdtrace {
class TextBuffer;
}

namespace hdtrace::mpi {

struct Comm;

void created_from_parent(MPI_Comm parent, MPI_Comm made, const char* word);
/// The new communicator is not complete yet, but has the members of its parent.
void created_from_parent_later(MPI_Comm parent, MPI_Comm made, const char* word);
/// Only the members of the new one took part, each with the same tag.
void created_from_group(MPI_Comm parent, int tag, MPI_Comm made, const char* word);
/// The same for groups of sessions, which have no parent but a tag.
void created_from_tagged_group(const char* tag, MPI_Comm made, const char* word);
void created_from_two_groups(MPI_Comm local, MPI_Comm made, const char* word);
/// The same, and if they are not all of this world, the leaders say where they met.
void created_by_leaders(MPI_Comm local, int local_leader, MPI_Comm peer, int remote_leader, int tag,
                        MPI_Comm made, const char* word);
/// Likewise; the roots say which port it was.
void created_through_port(MPI_Comm parent, int root, const char* port, MPI_Comm made, const char* word);
void created_by_join(MPI_Comm made, const char* word);
/// Asked for by a process that was started by others.
void created_by_parents(MPI_Comm made, const char* word);
/// Between parents and the processes that they have started, which are told the uid in parent_variable if
/// they are traced.
void created_by_spawn(MPI_Comm parent, MPI_Comm made, const char* word);
/// The uid of that communicator, of which @p number is the number of the creation on its parent.
void add_uid_of_children(TextBuffer& uid, const Comm& parent, int number);

} // namespace hdtrace::mpi
