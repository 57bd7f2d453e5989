/* Calls from more places than are described: many_sites all; without an argument only from one. */
#include "check.h"

#ifdef __x86_64__
void call_from_everywhere(int (*function)(MPI_Comm), MPI_Comm comm);

__asm__(".text\n"
        ".type call_from_everywhere, @function\n"
        "call_from_everywhere:\n"
        ".cfi_startproc\n"
        "push %rbx\n.cfi_adjust_cfa_offset 8\n"
        "push %r12\n.cfi_adjust_cfa_offset 8\n"
        "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
        "mov %rdi, %rbx\n"
        "mov %rsi, %r12\n"
        ".rept 1000100\n"
        "mov %r12, %rdi\n"
        "call *%rbx\n"
        ".endr\n"
        "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
        "pop %r12\n.cfi_adjust_cfa_offset -8\n"
        "pop %rbx\n.cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_from_everywhere, . - call_from_everywhere\n");
#endif

int main(int argc, char** argv)
{
    begin(&argc, &argv);
#ifdef __x86_64__
    if (argc > 1) {
        call_from_everywhere(MPI_Barrier, MPI_COMM_SELF);
    }
#endif
    MPI_Barrier(MPI_COMM_SELF);
    return finish();
}
