/* What counter.c counts. */
struct counts {
    long allocations; /* also those that others make for the caller, e.g. GLib */
    long locks;       /* only those of the tracer */
    long writes;
};

struct counts counted(void);
