#include "hdtrace/calls/call_class.h"

#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace hdtrace {
namespace {

constexpr std::array<std::pair<CallClass, std::string_view>, 11> class_names = {{
    {CallClass::point_to_point, "point-to-point"},
    {CallClass::completion, "completion"},
    {CallClass::collective, "collective"},
    {CallClass::one_sided, "one-sided"},
    {CallClass::file, "file"},
    {CallClass::communicator, "communicator"},
    {CallClass::datatype, "datatype"},
    {CallClass::process, "process"},
    {CallClass::query, "query"},
    {CallClass::event, "event"},
    {CallClass::other, "other"},
}};

// The calls of each class, between blanks. `Comm_*` stands for all that begin so and are not listed
// themselves.
constexpr std::pair<CallClass, std::string_view> calls_of_classes[] = {
    {CallClass::point_to_point,
     "Send Bsend Ssend Rsend Recv Sendrecv Sendrecv_replace Isend Ibsend Issend Irsend Irecv Isendrecv "
     "Isendrecv_replace Send_init Bsend_init Ssend_init Rsend_init Recv_init Start Startall Probe Iprobe "
     "Mprobe Improbe "
     "Mrecv Imrecv Psend_init Precv_init Pready Pready_range Pready_list Parrived Buffer_attach "
     "Buffer_detach"},
    {CallClass::completion,
     "Wait Waitall Waitany Waitsome Test Testall Testany Testsome Request_free Request_get_status Cancel "
     "Test_cancelled Grequest_start Grequest_complete"},
    {CallClass::collective,
     "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce "
     "Allreduce "
     "Reduce_scatter Reduce_scatter_block Scan Exscan Ibarrier Ibcast Igather Igatherv Iscatter Iscatterv "
     "Iallgather "
     "Iallgatherv Ialltoall Ialltoallv Ialltoallw Ireduce Iallreduce Ireduce_scatter Ireduce_scatter_block "
     "Iscan Iexscan "
     "Barrier_init Bcast_init Gather_init Gatherv_init Scatter_init Scatterv_init Allgather_init "
     "Allgatherv_init "
     "Alltoall_init Alltoallv_init Alltoallw_init Reduce_init Allreduce_init Reduce_scatter_init "
     "Reduce_scatter_block_init Scan_init Exscan_init Neighbor_* Ineighbor_* Reduce_local Op_create Op_free "
     "Op_commutative"},
    {CallClass::one_sided, "Win_* Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap Rput Rget "
                           "Raccumulate Rget_accumulate"},
    {CallClass::file, "File_* Register_datarep"},
    {CallClass::communicator, "Comm_* Intercomm_* Group_* Cart_* Cartdim_get Graph_* Graphdims_get "
                              "Dist_graph_* Dims_create Topo_test"},
    {CallClass::datatype,
     "Type_* Pack Pack_* Unpack Unpack_* Address Get_address Get_elements Get_elements_x"},
    {CallClass::process, "Init Init_thread Finalize Abort Pcontrol Session_* Comm_spawn Comm_spawn_multiple "
                         "Comm_accept Comm_connect "
                         "Comm_join Comm_get_parent Comm_disconnect Open_port Close_port Publish_name "
                         "Unpublish_name Lookup_name"},
    {CallClass::query,
     "Attr_* Keyval_* Comm_create_keyval Comm_delete_attr Comm_free_keyval Comm_get_attr Comm_set_attr "
     "Type_create_keyval Type_delete_attr Type_free_keyval Type_get_attr Type_set_attr Win_create_keyval "
     "Win_delete_attr "
     "Win_free_keyval Win_get_attr Win_set_attr Info_* Add_error_class Add_error_code Add_error_string "
     "Alloc_mem "
     "Comm_call_errhandler Comm_create_errhandler Comm_get_errhandler Comm_set_errhandler Errhandler_* "
     "Error_class "
     "Error_string Finalized Free_mem Get_library_version Get_version Initialized Is_thread_main "
     "Query_thread "
     "Get_processor_name Win_call_errhandler Win_create_errhandler Win_get_errhandler Win_set_errhandler "
     "Get_count "
     "Status_*"},
    {CallClass::event, "Event"},
};

class ClassTable {
  public:
    ClassTable()
    {
        for (const auto& [call_class, calls] : calls_of_classes)
            for (std::size_t begin = 0; begin < calls.size();) {
                const std::size_t end = std::min(calls.find(' ', begin), calls.size());
                m_classes.emplace(calls.substr(begin, end - begin), call_class);
                begin = end + 1;
            }
    }

    std::optional<CallClass> find(std::string_view call) const
    {
        if (const auto found = m_classes.find(std::string(call)); found != m_classes.end())
            return found->second;
        return find_beginning(call);
    }

  private:
    std::optional<CallClass> find_beginning(std::string_view call) const
    {
        for (std::size_t end = call.rfind('_'); end != call.npos && end > 0; end = call.rfind('_', end - 1))
            if (const auto found = m_classes.find(std::string(call.substr(0, end + 1)) + "*");
                found != m_classes.end())
                return found->second;
        return {};
    }

    std::unordered_map<std::string, CallClass> m_classes;
};

} // namespace

CallClass class_of(std::string_view call)
{
    static const ClassTable table;
    if (const auto found = table.find(call))
        return *found;
    if (call.ends_with("_c"))
        return class_of(call.substr(0, call.size() - 2));
    return CallClass::other;
}

std::string_view class_name(CallClass call_class)
{
    return class_names[static_cast<std::size_t>(call_class)].second;
}

std::optional<CallClass> find_class(std::string_view name)
{
    for (const auto& [call_class, its_name] : class_names)
        if (its_name == name)
            return call_class;
    return {};
}

} // namespace hdtrace
