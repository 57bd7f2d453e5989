/* What counter.c counts. */
struct counts
{
    long allocations; /* also those that others make for the caller, e.g. GLib */
    long locks;
    long writes;
};

struct counts counted(void);
