// Computes pi by the midpoint rule: collective communication from C++.
#include <iomanip>
#include <iostream>
#include <mpi.h>

namespace {

double part_of_pi(long steps, int rank, int size)
{
    const double width = 1.0 / static_cast<double>(steps);
    double sum = 0;
    for (long i = rank; i < steps; i += size) {
        const double x = (static_cast<double>(i) + 0.5) * width;
        sum += 4.0 / (1.0 + x * x);
    }
    return sum * width;
}

} // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    long steps = rank == 0 ? 1000000 : 0;
    MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    const double part = part_of_pi(steps, rank, size);
    double pi = 0;
    MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        std::cout << "pi is about " << std::fixed << std::setprecision(9) << pi << '\n';
    }
    MPI_Finalize();
}
