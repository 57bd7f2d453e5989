/* What programs have in the place of an MPI library: with PMPI, as libraries have it that can be traced, or
   without. MPI_Pcontrol is the first function that is called, with arguments in every place that arguments
   can have. */
#include <stdarg.h>
#include <stdio.h>

int MPI_Init(int* argc, char*** argv)
{
    return argc != NULL && argv != NULL ? 0 : 1;
}

#ifdef WITH_PMPI
int PMPI_Init(int* argc, char*** argv)
{
    return MPI_Init(argc, argv);
}
#endif

int MPI_Pcontrol(const int level, ...)
{
    va_list arguments;
    va_start(arguments, level);
    double sum = level;
    for (int i = 0; i < 10; ++i) {
        sum = 2 * sum + va_arg(arguments, int);
        sum = 2 * sum + va_arg(arguments, double);
    }
    va_end(arguments);
    printf("%.2f\n", sum);
    return (int)sum;
}
