// A small program that uses Kokkos.
#include <Kokkos_Core.hpp>
#include <mpi.h>

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    Kokkos::initialize(argc, argv);
    {
        Kokkos::View<double*> values("values", 1000);
        Kokkos::Profiling::pushRegion("step");
        Kokkos::parallel_for(
            "fill", 1000, KOKKOS_LAMBDA(int i) { values(i) = i; });
        double sum = 0;
        Kokkos::parallel_reduce(
            "sum", 1000, KOKKOS_LAMBDA(int i, double& part) { part += values(i); }, sum);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        Kokkos::Profiling::popRegion();
    }
    Kokkos::finalize();
    MPI_Finalize();
    return 0;
}
