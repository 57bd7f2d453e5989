/* What programs do wrong with regions: prints what they are told for it. */
#include "../check.h"

#include <errno.h>
#include <hdRegion.h>
#include <sys/wait.h>
#include <unistd.h>

static hdRegion good = HD_REGION("good");
static hdRegion other = HD_REGION("other");
static hdCounter number = HD_COUNTER("number", HD_INTEGER);
static hdCounter same_number = HD_COUNTER("number", HD_FLOAT);

static void tell(const char* what, int error)
{
    printf("%s: %d\n", what, error == 0 ? 0 : error - HD_ERR_NOT_STARTED + 1);
    fflush(stdout);
}

/* More events than a line may have. */
static int crowd(MPI_Comm comm, int key, void* state, void* old, void* new, int* keep)
{
    int error = 0;
    (void)comm, (void)key, (void)state, (void)old, (void)new;
    for (int i = 0; i < 100000 && error == 0; ++i)
        error = hdR_mark(&good, NULL);
    tell("crowd", error);
    tell("one too many", hdR_mark(&good, NULL));
    *keep = 0;
    return MPI_SUCCESS;
}

static void in_child(void)
{
    const pid_t child = fork();
    if (child == 0) {
        tell("child", hdR_begin(&good));
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
}

int main(int argc, char** argv)
{
    char long_name[HD_LONGEST_NAME + 2], long_text[HD_LONGEST_TEXT + 2];
    memset(long_name, 'n', sizeof long_name);
    memset(long_text, '<', sizeof long_text);
    long_name[HD_LONGEST_NAME + 1] = long_text[HD_LONGEST_TEXT + 1] = '\0';

    MPI_Comm copy;
    int key, value = 1;
    tell("begin before Init", hdR_begin(&good));
    tell("end before Init", hdR_end(&good));
    begin(&argc, &argv);
    errno = 77;
    tell("end of what never began", hdR_end(&good));
    tell("end of nothing", hdR_end(NULL));
    tell("begin", hdR_begin(&good));
    tell("end of another", hdR_end(&other));
    tell("end", hdR_end(&good));
    tell("end again", hdR_end(&good));
    tell("no name", hdR_beginNamed(""));
    tell("null name", hdR_markNamed(NULL));
    tell("long name", hdR_beginNamed(long_name));
    tell("longest name", hdR_markNamed(long_name + 1));
    tell("long text", hdR_mark(&good, long_text));
    tell("longest text", hdR_mark(&good, long_text + 1));
    tell("bad bytes", hdR_mark(&good, "\xff\x01\xc3"));
    tell("integer", hdR_countInteger(&number, 1));
    tell("float for integer", hdR_countFloat(&number, 1));
    tell("other type of the same name", hdR_countFloat(&same_number, 1));
    tell("never ended", hdR_begin(&other));
    CHECK(errno == 77);
    in_child();
    MPI_Comm_create_keyval(crowd, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    tell("end after Finalize", hdR_end(&other));
    tell("mark after Finalize", hdR_markNamed("late"));
    return EXIT_SUCCESS;
}
