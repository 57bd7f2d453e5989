// Files: one id for each canonical name, and what is known of open handles.
#pragma once

#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/library/mpi_api.h"
#include "mpiwrapper/runtime/objects/handle.h"
#include "mpiwrapper/runtime/objects/request.h"

#include <stdint.h>

namespace hdtrace::mpi {

/// An open file.
struct File {
    int64_t id = -1;
    int64_t opening = -1;      ///< tells handles with the same value from each other
    bool has_position = false; ///< not MPI_MODE_SEQUENTIAL: positions may be asked for
};

/// Looks at a file before a call creates or changes it.
class FileBeforeCall {
  public:
    explicit FileBeforeCall(const char* name);
    /// The id of the file, which is described in the .info before this returns; -1 if memory is short. Call
    /// it after the function succeeded.
    int64_t id() const;

  private:
    mutable TextBuffer m_name; // canonical
    int64_t m_size = 0;
    int64_t m_time = 0;
};

/// The file of a handle; one without id if it is not known.
File find_file(MPI_File handle);
void opened(MPI_File handle, int64_t id, int amode);
/// Another thread may have opened a file with the same handle in the meantime. @p file is what was found
/// before the call.
void closed(MPI_File handle, const File& file);
/// The split collective operation that has begun; one without rid if there is none.
Request split_access_of(MPI_File handle);
void set_split_access(MPI_File handle, const Request& access);

/// Ended whenever a file was opened or closed.
extern Generations<MPI_File> file_generations;

inline constexpr int64_t no_offset = -1;

/// The absolute byte offset of a position in the file's view; no_offset if that cannot be asked for.
int64_t byte_offset(MPI_File handle, const File& file, MPI_Offset position);
/// The same for the individual file pointer.
int64_t byte_offset_of_pointer(MPI_File handle, const File& file);

} // namespace hdtrace::mpi
