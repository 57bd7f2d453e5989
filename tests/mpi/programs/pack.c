/* Packing, and sending what was packed. */
#include "check.h"

int main(int argc, char** argv)
{
    const int numbers[] = {1, 2, 3};
    const double fraction = 0.5;
    int packed_size, more, position = 0, unpacked[3];
    double unpacked_fraction;
    char buffer[256], received[256];
    MPI_Aint external_size, external_position = 0;

    begin(&argc, &argv);
    MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &packed_size);
    MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &more);
    CHECK(packed_size + more <= (int)sizeof buffer);
    MPI_Pack(numbers, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(&fraction, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Sendrecv(buffer, position, MPI_PACKED, right, 1, received, sizeof received, MPI_PACKED, left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    position = 0;
    MPI_Unpack(received, sizeof received, &position, unpacked, 3, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(received, sizeof received, &position, &unpacked_fraction, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(unpacked[2] == 3 && unpacked_fraction == 0.5);

    MPI_Pack_external_size("external32", 3, MPI_INT, &external_size);
    CHECK(external_size == 12);
    MPI_Pack_external("external32", numbers, 3, MPI_INT, buffer, sizeof buffer, &external_position);
    external_position = 0;
    MPI_Unpack_external("external32", buffer, sizeof buffer, &external_position, unpacked, 3, MPI_INT);
    CHECK(unpacked[1] == 2);
    return finish();
}
