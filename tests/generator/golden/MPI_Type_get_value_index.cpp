extern "C" HDT_EXPORT int MPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type)
{
    Call call(Function::MPI_Type_get_value_index, local_query, Tracks::nothing);
    if (call.passes())
        return real.MPI_Type_get_value_index(value_type, index_type, pair_type);
    call.begin("Type_get_value_index");
    const int rc = call.end(real.MPI_Type_get_value_index(value_type, index_type, pair_type));
    if (!call.is_recorded())
        return rc;
    const Type value_type_object = call.type(value_type);
    const Type index_type_object = call.type(index_type);
    const Type pair_type_object = call.succeeded() ? call.type(*pair_type) : Type();
    Element element(call.trace());
    element.text("<Type_get_value_index valueTid='").number(value_type_object.id).text("' indexTid='").number(index_type_object.id).text("' tid='").number(pair_type_object.id).text("'");
    call.finish_attributes(element).end("Type_get_value_index");
    return rc;
}
HDT_WRAPS(MPI_Type_get_value_index);
