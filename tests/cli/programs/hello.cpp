#include <iostream>
#include <mpi.h>
#include <stdexcept>

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    try {
        throw std::runtime_error("hello");
    } catch (const std::exception& error) {
        if (rank == 0) {
            std::cout << error.what() << std::endl;
        }
    }
    MPI_Finalize();
}
