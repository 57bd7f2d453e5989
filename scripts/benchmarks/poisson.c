/* Solves Poisson's equation on a cube with PETSc: poisson POINTS SOLUTIONS
 *
 * The cube has POINTS^3 points. Conjugate gradients with Jacobi's preconditioner take many short iterations,
 * each with an exchange of borders and some sums over all processes. It is solved SOLUTIONS times. */
#include <petscdmda.h>
#include <petscksp.h>
#include <stdlib.h>

static PetscErrorCode add_row(Mat matrix, MatStencil row, PetscInt points)
{
    static const int steps[][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    MatStencil columns[7] = {row};
    PetscScalar values[7] = {6};
    PetscInt count = 1;
    PetscFunctionBeginUser;
    for (int i = 0; i < 6; ++i) {
        MatStencil at = {.i = row.i + steps[i][0], .j = row.j + steps[i][1], .k = row.k + steps[i][2]};
        if (at.i < 0 || at.j < 0 || at.k < 0 || at.i == points || at.j == points || at.k == points)
            continue;
        columns[count] = at;
        values[count++] = -1;
    }
    PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
    PetscFunctionReturn(0);
}

static PetscErrorCode fill(DM grid, Mat matrix)
{
    DMDALocalInfo mine;
    PetscFunctionBeginUser;
    PetscCall(DMDAGetLocalInfo(grid, &mine));
    for (PetscInt k = mine.zs; k < mine.zs + mine.zm; ++k)
        for (PetscInt j = mine.ys; j < mine.ys + mine.ym; ++j)
            for (PetscInt i = mine.xs; i < mine.xs + mine.xm; ++i)
                PetscCall(add_row(matrix, (MatStencil){.i = i, .j = j, .k = k}, mine.mx));
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(PetscInt points, int solutions)
{
    DM grid;
    Mat matrix;
    Vec right, found;
    KSP solver;
    PC preconditioner;
    PetscInt iterations;
    double begin;
    PetscFunctionBeginUser;
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                           DMDA_STENCIL_STAR, points, points, points, PETSC_DECIDE, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &grid));
    PetscCall(DMSetUp(grid));
    PetscCall(DMCreateMatrix(grid, &matrix));
    PetscCall(fill(grid, matrix));
    PetscCall(MatCreateVecs(matrix, &found, &right));
    PetscCall(VecSet(right, 1));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetOperators(solver, matrix, matrix));
    PetscCall(KSPSetType(solver, KSPCG));
    PetscCall(KSPGetPC(solver, &preconditioner));
    PetscCall(PCSetType(preconditioner, PCJACOBI));
    PetscCall(KSPSetTolerances(solver, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetErrorIfNotConverged(solver, PETSC_TRUE));
    begin = MPI_Wtime();
    for (int i = 0; i < solutions; ++i)
        PetscCall(KSPSolve(solver, right, found));
    PetscCall(KSPGetIterationNumber(solver, &iterations));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations each\nloop %f seconds\n",
                          iterations, MPI_Wtime() - begin));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&right));
    PetscCall(VecDestroy(&found));
    PetscCall(MatDestroy(&matrix));
    PetscCall(DMDestroy(&grid));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv)
{
    if (argc != 3)
        return 2;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(solve(atoi(argv[1]), atoi(argv[2])));
    PetscCall(PetscFinalize());
    return 0;
}
