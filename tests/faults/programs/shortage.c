/* shortage WAY CALLS: something runs out while the program makes calls; its own results must not depend on
 * it. */
#include "prelude.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void nothing(void) {}

static void limit_file_size(void)
{
    const struct rlimit limit = {50000, 50000};
    signal(SIGXFSZ, SIG_DFL);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void limit_own_files(rlim_t size)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = size;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void make_datatypes(void)
{
    limit_own_files(50000);
    for (int i = 0; i < 2000; ++i) {
        MPI_Datatype pair, type;
        MPI_Type_contiguous(2 + i, MPI_INT, &pair);
        MPI_Type_contiguous(2, pair, &type);
        MPI_Type_free(&pair);
        MPI_Type_free(&type);
    }
    limit_own_files(RLIM_INFINITY);
}

static void do_with_directory(const char* command)
{
    char line[5000];
    snprintf(line, sizeof line, "%s '%s'", command, getenv("HDTRACE_DIRECTORY"));
    CHECK(system(line) == 0);
}

static void delete_directory(void)
{
    do_with_directory("rm -r");
}
static void make_read_only(void)
{
    do_with_directory("mount -o remount,abort");
}

static void* call(void* unused)
{
    make_calls(5);
    return unused;
}

static void call_in_another_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call, NULL) == 0);
    pthread_join(thread, NULL);
}

static void take_all_descriptors(void)
{
    static int taken[1 << 20];
    int count = 0;
    while (count < 1 << 20 && (taken[count] = open("/dev/null", O_RDONLY)) >= 0)
        ++count;
    call_in_another_thread();
    while (count > 0)
        close(taken[--count]);
}

static void change_root(void)
{
    CHECK(mkdir("root", 0700) == 0 && chroot("root") == 0 && chdir("/") == 0);
    call_in_another_thread();
}

/* Its number becomes that of a file. */
static void replace_standard_error(int flags)
{
    close(2);
    CHECK(open("data", O_CREAT | O_WRONLY | flags, 0600) == 2);
    CHECK(write(2, "data\n", 5) == 5);
    limit_file_size();
}

static void write_data(void)
{
    replace_standard_error(0);
}

static void append_to_log(void)
{
    replace_standard_error(O_APPEND);
}

static void close_everything(void)
{
    closefrom(3);
}

static const struct way ways[] = {
    {"nothing", nothing},          {"file_size", limit_file_size}, {"directory", delete_directory},
    {"datatypes", make_datatypes}, {"read_only", make_read_only},  {"descriptors", take_all_descriptors},
    {"daemon", close_everything},  {"data", write_data},           {"log", append_to_log},
    {"root", change_root},
};

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    GO(ways, argv[1]);
    long sum = 0;
    for (int i = 0; i < atoi(argv[2]); ++i) {
        int value = i;
        CHECK(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF) == MPI_SUCCESS);
        sum += value;
    }
    printf("sum %ld\n", sum);
    fflush(stdout);
    if (strcmp(argv[1], "daemon") == 0)
        _exit(0); /* the MPI library has lost its descriptors, too */
    MPI_Finalize();
    return 0;
}
