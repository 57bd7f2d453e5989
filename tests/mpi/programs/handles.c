/* Conversions of handles between C and Fortran. */
#include "check.h"

int main(int argc, char** argv)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_File file;
    MPI_Win window;
    MPI_Status status = {0}, copied;
    MPI_Fint fortran_status[sizeof(MPI_Status) / sizeof(MPI_Fint) + 2];

    begin(&argc, &argv);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL)) == MPI_INFO_NULL);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(request)) == request);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(message)) == message);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    CHECK_MPI(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
    MPI_File_close(&file);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(window)) == window);
    MPI_Win_free(&window);
    status.MPI_SOURCE = 1;
    status.MPI_TAG = 2;
    MPI_Status_c2f(&status, fortran_status);
    MPI_Status_f2c(fortran_status, &copied);
    CHECK(copied.MPI_SOURCE == 1 && copied.MPI_TAG == 2);
    return finish();
}
