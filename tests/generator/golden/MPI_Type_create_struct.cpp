extern "C" HDT_EXPORT int MPI_Type_create_struct(int count, const int *array_of_blocklengths, const MPI_Aint *array_of_displacements, const MPI_Datatype *array_of_types, MPI_Datatype *newtype)
{
    static constexpr StateForm form = {"Type_create_struct"};
    Call call(Function::MPI_Type_create_struct, Tracks::nothing);
    if (call.passes())
        return real.MPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
    call.begin(form);
    const int rc = call.end(real.MPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype));
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            Figures figures;
            if (call.sum(figures))
                return rc;
        }
    }
    const Type newtype_object = call.succeeded() ? find_type_made_of(*newtype, array_of_types, count) : Type();
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Type_create_struct tid='"_xml, newtype_object.id, "'"_xml);
        call.finish_attributes(element).end("Type_create_struct");
    });
    return rc;
}
HDT_WRAPS(MPI_Type_create_struct);
