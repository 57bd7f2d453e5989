extern "C" HDT_EXPORT int MPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " valueTid='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " indexTid='"},
    };
    static constexpr StateForm form = {"Type_get_value_index", arguments};
    Call call(Function::MPI_Type_get_value_index, Tracks::nothing);
    if (call.passes())
        return real.MPI_Type_get_value_index(value_type, index_type, pair_type);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x3);
        const Type value_type_object = call.type(value_type);
        const Type index_type_object = call.type(index_type);
        state.set(0, value_type_object.id);
        state.set(1, index_type_object.id);
    };
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Type_get_value_index(value_type, index_type, pair_type));
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            Figures figures;
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    const Type pair_type_object = call.succeeded() ? call.type(*pair_type) : Type();
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Type_get_value_index valueTid='"_xml, state.value(0), "' indexTid='"_xml, state.value(1), "' tid='"_xml, pair_type_object.id, "'"_xml);
        call.finish_attributes(element).end("Type_get_value_index");
    });
    return rc;
}
HDT_WRAPS(MPI_Type_get_value_index);
