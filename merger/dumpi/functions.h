// The functions that DUMPI has a label for, their arguments as its files have them, and where our traces have
// these. One table (functions.inc) for who writes such files and who reads them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hdtrace::dumpi {

/// What the number of an argument means, as the table writes it.
enum class Code : std::uint8_t {
    integer,      ///< i: as the program passed it
    large,        ///< l: an offset or a size
    rank,         ///< rk
    tag,          ///< tg
    datatype,     ///< dt
    communicator, ///< cm
    group,        ///< gr
    file,         ///< fl
    window,       ///< wn
    info,         ///< nf
    errhandler,   ///< eh
    key,          ///< kv: of an attribute
    operation,    ///< op
    request,      ///< rq
    file_mode,    ///< fm
    lock,         ///< lk
    assertion,    ///< as
    topology,     ///< tp
    combiner,     ///< cb
    comparison,   ///< cp
    order,        ///< od
    distribution, ///< ds
    thread_level, ///< th
    type_class,   ///< tc
    whence,       ///< wh
    text,         ///< s
    status,       ///< st: a list, always
};

/// Bytes of a number; 0 of texts and statuses.
int width_of(Code code);

/// Where our traces have what an argument says.
enum class SourceKind : std::uint8_t {
    nowhere,
    attribute,
    undefined,       ///< an attribute in which -1 is MPI_UNDEFINED
    element_count,   ///< of a list
    text_length,     ///< in bytes
    children,        ///< an attribute of each child of a name
    member_children, ///< the same for each member of the communicator
    type_attribute,  ///< of the description of the datatype `tid`
    type_rows,       ///< an attribute of each of its rows
    number,          ///< always the same
    special,
};

/// What is not in one place of a call.
enum class Special : std::uint8_t {
    none,
    me,          ///< $me: the rank of the process in the communicator
    members,     ///< $members: how many its group has
    received,    ///< $received: the status of the message that the call itself received or found
    transferred, ///< $transferred: the status of an access to a file
    request,     ///< $request: of a call that is given one
    status,      ///< $status: of the one that has ended
    count,       ///< $count: of the requests that a call is given
    requests,    ///< $requests: of a call that is given several, in the order of its array
    statuses,    ///< $statuses: of all of them, if all have ended
    ended,       ///< $ended: of those that have ended
    index,       ///< $index: which one has ended
    indices,     ///< $indices: which ones
    argv,        ///< $argv: of the program
    argvs,       ///< $argvs: of all commands that are started
    processes,   ///< $processes: how many are started
    color,       ///< $color: a number that tells the parts of a communicator apart
    position,    ///< $position: where packed data begins
    own,         ///< $own: how much the process itself contributes
    fresh,       ///< $new: a number that no object had
    last,        ///< $last: that of the object that was made last, and not freed
    nothing,     ///< $nothing: the null handle, and this is right
};

struct Source {
    SourceKind kind = SourceKind::nowhere;
    std::string_view name;  ///< of the attribute
    std::string_view child; ///< of the child elements
    Special special = Special::none;
    std::int32_t number = 0;
};

struct Argument {
    std::string_view name; ///< as dumpi2ascii prints it
    Code code = Code::integer;
    std::uint8_t dimensions = 0; ///< 1: an array, 2: an array of arrays
    bool at_root = false;        ///< only there if `$me` is `root`
    bool is_result = false;
    std::vector<Source> sources; ///< the first one that the call has
};

struct Function {
    std::uint16_t label = 0;
    std::string_view name; ///< without `MPI_`
    std::vector<Argument> arguments;
};

/// All functions in the order of their labels. They live forever.
std::span<const Function> functions();
/// Null if there is none.
const Function* find_function(std::uint16_t label);
const Function* find_function(std::string_view name);
/// The function that does nearly the same as one of which DUMPI does not know; null if there is none.
const Function* find_twin(std::string_view name);

} // namespace hdtrace::dumpi
