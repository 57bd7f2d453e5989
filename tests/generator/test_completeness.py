"""Every argument that is not payload stands in the trace, or there is a reason why not."""

import pytest
from generate.tables import Argument, Product

# Kinds that are no values: memory, and objects that mean something only inside the process.
OPAQUE = {"BUFFER", "POINTER", "STATUS", "MESSAGE", "SESSION", "ERRHANDLER"}

# Where the value stands instead, by parameter or by "function parameter".
ELSEWHERE = {
    "resultlen": "the length of the string that is logged",
    "length": "the number of the partitions that are logged",
    "MPI_Op_create op": "operations have no ids",
    "MPI_Op_create_c op": "operations have no ids",
    "MPI_Op_free op": "operations have no ids",
    "MPI_Group_free group": "it has ended",
    "MPI_Comm_spawn array_of_errcodes": "errors",
    "MPI_Comm_spawn_multiple array_of_errcodes": "errors",
    "MPI_Comm_spawn_multiple array_of_info": "behind the Command children",
    "MPI_Recv source": "fromRank, postedRank", "MPI_Recv tag": "fromTag, postedTag",
    "MPI_Sendrecv source": "fromRank, postedRank", "MPI_Sendrecv recvtag": "fromTag, postedTag",
    "MPI_Sendrecv_replace source": "fromRank, postedRank", "MPI_Sendrecv_replace recvtag": "fromTag, postedTag",
    "MPI_Dist_graph_neighbors sourceweights": "sourceWeights of the constructor",
    "MPI_Dist_graph_neighbors destweights": "destWeights of the constructor",
    "MPI_Intercomm_create_from_groups remote_group": "the new communicator's members",
    "MPI_Intercomm_create_from_groups remote_leader": "localLeader of the other side",
    "MPI_File_get_view etype": "the library may answer with copies", "MPI_File_get_view filetype": "the library may answer with copies",
    **{f"MPI_Request_get_status_{which} array_of_requests": "nothing is completed; the call that does that names them"
       for which in ("all", "any", "some")},
    "MPI_Request_get_status_some array_of_indices": "the same",
    "MPI_Session_get_nth_pset pset_name": "written only if there is room for it",
}
# Questions about an object whose constructor's call or .info line says the same.
ANSWERS_OF_KNOWN_OBJECTS = {"MPI_Type_get_contents", "MPI_Type_get_contents_c"}


def values(logged):
    attributes = [a for part in (logged, *logged.children) for a in part.attributes]
    return [value for attribute in attributes for value in attribute.values] + [c.each for c in logged.children if c.each]


def logged_parameters(function):
    """Names of parameters that the function's line mentions."""
    names = {child.argument for child in function.logged.children}
    for value in values(function.logged):
        if isinstance(value, Product):
            names |= {*value.count.split("*"), value.datatype, value.displacements}
        elif isinstance(value, Argument):
            names.add(value.parameter)
    return names


def is_told_otherwise(function, parameter):
    if parameter.kind is None or parameter.kind.name in OPAQUE:  # functions, argument vectors
        return True
    if parameter.kind.name == "INFO" and (parameter.is_written or function.chapter in ("info", "sessions")):
        return True
    if function.meaning.makes == "datatype" or function.chapter == "datatypes" and not function.meaning.is_query:  # the type's line of the .info
        return True
    if function.meaning.file != "none" and function.meaning.progress == "waits":  # the split call's begin names the file
        return True
    return parameter.name in ELSEWHERE or f"{function.name} {parameter.name}" in ELSEWHERE


def test_every_argument_is_logged(api):
    missing = [f"{function.name} {parameter.name}"
               for function in api.functions
               if function.logged.handwritten is None and function.name not in ANSWERS_OF_KNOWN_OBJECTS and function.chapter != "info"
               for parameter in function.parameters
               if parameter.name not in logged_parameters(function) and not is_told_otherwise(function, parameter)]
    assert not missing


@pytest.mark.parametrize("entry", ELSEWHERE)
def test_every_exception_is_needed(api, entry):
    function, _, parameter = entry.rpartition(" ")
    assert any(p.name == parameter and parameter not in logged_parameters(f)
               for f in api.functions if not function or f.name == function for p in f.parameters)
