/* Solves a tridiagonal system of equations, whose solution is known, with PETSc, which calls MPI. */
#include <petscksp.h>

int main(int argc, char** argv)
{
    const PetscInt size = 200;
    Mat matrix;
    Vec solution, right, known;
    KSP solver;
    PetscInt first, end;
    PetscReal error;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &matrix));
    PetscCall(MatSetSizes(matrix, PETSC_DECIDE, PETSC_DECIDE, size, size));
    PetscCall(MatSetFromOptions(matrix));
    PetscCall(MatSetUp(matrix));
    PetscCall(MatGetOwnershipRange(matrix, &first, &end));
    for (PetscInt row = first; row < end; ++row) {
        PetscCall(MatSetValue(matrix, row, row, 4, INSERT_VALUES));
        if (row > 0)
            PetscCall(MatSetValue(matrix, row, row - 1, -1, INSERT_VALUES));
        if (row + 1 < size)
            PetscCall(MatSetValue(matrix, row, row + 1, -1, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(matrix, &solution, &right));
    PetscCall(VecDuplicate(solution, &known));
    PetscCall(VecSet(known, 1));
    PetscCall(MatMult(matrix, known, right));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetOperators(solver, matrix, matrix));
    PetscCall(KSPSetTolerances(solver, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSolve(solver, right, solution));
    PetscCall(VecAXPY(solution, -1, known));
    PetscCall(VecNorm(solution, NORM_INFINITY, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solved: %s\n", error < 1e-6 ? "yes" : "no"));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&known));
    PetscCall(VecDestroy(&right));
    PetscCall(VecDestroy(&solution));
    PetscCall(MatDestroy(&matrix));
    PetscCall(PetscFinalize());
    return 0;
}
