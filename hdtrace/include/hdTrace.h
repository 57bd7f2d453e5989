/* hdTrace.h - write traces in the HDTrace format.
 *
 * A trace is a pair of files: `<project>_<label>_..._<label>.trc` holds states and events as XML,
 * `<same name>.info` describes the objects that they refer to, one line each. The formats are
 * described in docs/format.md.
 *
 *     hdTopology *topology = hdT_createTopology("solver", (const char *[]){"Host", "Worker"}, 2);
 *     hdTopoNode *node = hdT_createTopoNode(topology, (const char *[]){"node01", "3"}, 2);
 *     hdTrace *trace = hdT_createTrace(node);
 *     hdT_enableTrace(trace);
 *     hdT_logStateStart(trace, "Step");
 *     hdT_logAttributes(trace, "number='%d'", 1);
 *     hdT_logStateEnd(trace);
 *     hdT_finalize(trace);
 *
 * Errors: functions that return int return 0, or -1 with errno set; functions that return a pointer
 * return NULL with errno set. hdT_strerror() names both the system's numbers and ours. No function
 * prints anything or ends the program.
 *
 * Threads: one trace must be used by one thread at a time; different traces are independent.
 * Topologies and nodes are not changed after their creation and may be shared.
 *
 * Names of states, elements and attributes are XML names without a colon that do not begin with "xml". Event,
 * Nested and Program are no names for states and elements. Attributes named time and end are written by the
 * library, and a name can be given only once in an element: everything else is HD_ERR_NOT_XML.
 *
 * Formats are those of printf(), but the program's locale does not matter: numbers have a decimal point, wide
 * characters become UTF-8.
 *
 * Settings: where and how files are written is taken from the environment by hdT_createTrace(), e.g. from
 * HDTRACE_DIRECTORY. options.md, beside this library's documentation, says which variables it takes.
 */
#ifndef HDTRACE_H
#define HDTRACE_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HDT_API __attribute__((visibility("default")))
#define HDT_PRINTF(text, values) __attribute__((__format__(__printf__, text, values)))
#else
#define HDT_API
#define HDT_PRINTF(text, values)
#endif

/** How deep states may be nested, the outermost included. */
#define HD_LOG_MAX_DEPTH 32

/** Names the levels of the tree in which the traces of one project stand. */
typedef struct hdTopology hdTopology;
/** A place in that tree; a leaf has one trace. */
typedef struct hdTopoNode hdTopoNode;
/** An open trace. */
typedef struct hdTrace hdTrace;

/** Numbers for errno beyond the system's own. */
enum hdTError {
    HD_ERR_INVALID_ARGUMENT =
        800000,                 /**< a null pointer, an empty or malformed name, a number out of range */
    HD_ERR_TOO_DEEP = 800100,   /**< more than the permitted number of states is open */
    HD_ERR_NO_STATE = 800101,   /**< no state is open */
    HD_ERR_STATE_OPEN = 800102, /**< hdT_finalize() had to end open states */
    HD_ERR_NOT_XML = 800103,    /**< the text is not well-formed where XML is expected */
    HD_ERR_REFUSED = 800104     /**< hdT_finalize(): the trace lacks what calls were given that failed */
};

/** The text for a value of errno after a failed call of this library. Owned by the library. */
HDT_API const char* hdT_strerror(int errorNumber);

/** Describes a tree of @p count levels, e.g. {"Hostname", "Rank", "Thread"}. The texts are copied; names of
 * levels are not empty and have no ';'.
 *  @p project is the true name; file names carry it with characters outside [A-Za-z0-9.-] as '-'.
 *  Free it with hdT_destroyTopology(), after its nodes. */
HDT_API hdTopology* hdT_createTopology(const char* project, const char* const* levels, int count);
/** The number of levels. */
HDT_API int hdT_getTopoDepth(const hdTopology* topology);
HDT_API int hdT_destroyTopology(hdTopology* topology);

/** The node that is reached by @p labels from the root; @p count is at most the depth of the topology. The
 * texts are copied; labels are not empty and have no ';'. Two traces whose nodes have the same path string
 * are the same files. */
HDT_API hdTopoNode* hdT_createTopoNode(const hdTopology* topology, const char* const* labels, int count);
/** The level of a node, 1 for the first; that is the length of its path. */
HDT_API int hdT_getTopoNodeLevel(const hdTopoNode* node);
/** The label of the node's path at @p level (1 is the first). Owned by the node. */
HDT_API const char* hdT_getTopoPathLabel(const hdTopoNode* node, int level);
/** `<project>_<label>_..._<label>` as in the names of files. Owned by the node. */
HDT_API const char* hdT_getTopoPathString(const hdTopoNode* node);
HDT_API int hdT_destroyTopoNode(hdTopoNode* node);

/** Creates the .trc and the .info of @p node, a leaf, and writes their first lines. Existing files are
 * replaced, the directory is created if need be. The trace starts disabled. The node may be destroyed
 * afterwards. EINVAL: one of the environment variables that it takes has a wrong value. */
HDT_API hdTrace* hdT_createTrace(const hdTopoNode* node);
/** Ends states that are still open, closes both files and frees the trace, whatever is returned.
 *  The data is safe in the file if this returned 0, or -1 with HD_ERR_STATE_OPEN or HD_ERR_REFUSED: some
 * calls with this trace had failed with HD_ERR_INVALID_ARGUMENT, HD_ERR_NO_STATE, HD_ERR_NOT_XML or ENOMEM,
 * or with HD_ERR_TOO_DEEP at the default depth; the .info says how many (`refused=`). A process that was
 * forked after hdT_createTrace() only frees the memory here: the files belong to its parent. */
HDT_API int hdT_finalize(hdTrace* trace);

/** Switch recording on and off; both return 1 if it was in that state already. A state that is open keeps
 *  the setting with which it started. */
HDT_API int hdT_enableTrace(hdTrace* trace);
HDT_API int hdT_disableTrace(hdTrace* trace);
/** 1 if recording is on, else 0. */
HDT_API int hdT_isEnabled(const hdTrace* trace);
/** How many states may be open at once, recorded or not: 1 ... HD_LOG_MAX_DEPTH. Deeper ones are not
 * recorded. The default is the maximum. */
HDT_API int hdT_setNestedDepth(hdTrace* trace, int depth);
/** With @p flush != 0 every line goes to the file at once, otherwise when the buffer is full (the default).
 */
HDT_API int hdT_setForceFlush(hdTrace* trace, int flush);
/** Writes what is buffered and complete to the file. */
HDT_API int hdT_flush(hdTrace* trace);

/** Starts a state now. @p name is an XML name and is copied. After HD_ERR_INVALID_ARGUMENT no state was
 * started; after any other error one was, which is not recorded and needs its hdT_logStateEnd() all the same.
 *  What is added to a state that is not recorded is ignored. */
HDT_API int hdT_logStateStart(hdTrace* trace, const char* name);
/** Adds attributes to the innermost open state, written as XML, e.g. "size='%d' count='%d'". Values that may
 * hold special characters or line breaks belong into hdT_logAttribute(). After an error none of them is
 * added. */
HDT_API int hdT_logAttributes(hdTrace* trace, const char* format, ...) HDT_PRINTF(2, 3);
/** Adds one attribute to the innermost open state; the value is escaped. */
HDT_API int hdT_logAttribute(hdTrace* trace, const char* name, const char* value);
/** Adds a child element `<name attributes />` to the innermost open state; @p format as in
 * hdT_logAttributes(). */
HDT_API int hdT_logElement(hdTrace* trace, const char* name, const char* format, ...) HDT_PRINTF(3, 4);
/** Ends the innermost open state now, and writes it: as one element, or, if another state or an event has
 * begun inside it, as the end of a region, whose beginning stands in the file since then (docs/format.md). So
 * memory does not grow with what is inside a state. An error of the system (disk full, ...) says that the
 * trace cannot be written any more; it is told from the first state on that is lost for sure. */
HDT_API int hdT_logStateEnd(hdTrace* trace);
/** Marks this moment: `<Event name='name' time=... />`. The name is escaped and not empty. */
HDT_API int hdT_logEvent(hdTrace* trace, const char* name);

/** Writes to the .info, whether recording is on or off. The caller writes whole lines, with values escaped as
 *  docs/format.md says; a missing line break at the end is added. */
HDT_API int hdT_writeInfo(hdTrace* trace, const char* format, ...) HDT_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
