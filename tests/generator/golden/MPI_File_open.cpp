extern "C" HDT_EXPORT int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " cid='"},
        {.kind = Argument::Kind::string, .value = 1, .start = " name='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " flags='"},
        {.kind = Argument::Kind::any_of, .value = 3, .start = " amode='", .names = amode_names},
    };
    static constexpr StateForm form = {"File_open", arguments};
    Call call(Function::MPI_File_open, Tracks::operations);
    if (call.passes())
        return real.MPI_File_open(comm, filename, amode, info, fh);
    const FileBeforeCall before(filename);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0xf);
        const Comm& comm_object = call.comm(comm);
        state.set(0, comm_object.id);
        state.set(1, filename);
        state.set(2, amode);
        state.set(3, amode);
    };
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_File_open(comm, filename, amode, info, fh));
    int64_t fid = -1;
    if (call.succeeded()) {
        fid = before.id();
        opened(*fh, fid, amode);
    }
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            const Comm& comm_object = call.comm(comm);
            Figures figures;
            figures.communicator = (comm_object.id);
            figures.file = fid;
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<File_open cid='"_xml, state.value(0), "' name='"_xml);
        put_string(element, filename);
        element.add("' flags='"_xml, state.value(2), "' fid='"_xml, fid, "' amode='"_xml);
        element.names_of(amode_names, amode);
        element.add("'"_xml);
        call.finish_attributes(element);
        put_info(element, call, info);
        element.end("File_open");
    });
    return rc;
}
HDT_WRAPS(MPI_File_open);
