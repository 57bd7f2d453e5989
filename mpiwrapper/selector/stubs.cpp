// The stubs are written in assembly language: MPI libraries disagree about the types of arguments, and
// whoever is called must find the stack as the program has left it. They are what linkers make for lazy
// binding.
#include "mpiwrapper/selector/stubs.h"

#if defined(__x86_64__)
asm(R"(
    .macro hdtrace_stub name
    .ifndef \name
    .text
    .p2align 4
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
    jmp *(1f + 8)(%rip)
2:  endbr64
    leaq 1f(%rip), %r11
    jmp hdtrace_first_call
    .cfi_endproc
    .size \name, . - \name
    .section .rodata
3:  .asciz "\name"
    .section hdtrace_stubs, "aw"
    .p2align 3
1:  .quad 3b, 2b
    .text
    .endif
    .endm

    .text
    .type hdtrace_first_call, @function
hdtrace_first_call:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $192, %rsp
    movq %rax, (%rsp)
    movq %rdi, 8(%rsp)
    movq %rsi, 16(%rsp)
    movq %rdx, 24(%rsp)
    movq %rcx, 32(%rsp)
    movq %r8, 40(%rsp)
    movq %r9, 48(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    movq %rdi, %rdx
    movq %rsi, %rcx
    movq %r11, %rdi
    movq 8(%rbp), %rsi
    call hdtrace_target_of
    movq %rax, %r11
    movq (%rsp), %rax
    movq 8(%rsp), %rdi
    movq 16(%rsp), %rsi
    movq 24(%rsp), %rdx
    movq 32(%rsp), %rcx
    movq 40(%rsp), %r8
    movq 48(%rsp), %r9
    movups 64(%rsp), %xmm0
    movups 80(%rsp), %xmm1
    movups 96(%rsp), %xmm2
    movups 112(%rsp), %xmm3
    movups 128(%rsp), %xmm4
    movups 144(%rsp), %xmm5
    movups 160(%rsp), %xmm6
    movups 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    jmp *%r11
    .cfi_endproc
    .size hdtrace_first_call, . - hdtrace_first_call
)");
#elif defined(__aarch64__)
asm(R"(
    .macro hdtrace_stub name
    .ifndef \name
    .text
    .p2align 2
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    hint 34 // bti c
    adrp x16, 1f + 8
    add x16, x16, :lo12:1f + 8
    ldar x16, [x16] // what another thread has loaded before it led us there must be there
    br x16
2:  hint 34
    adrp x17, 1f
    add x17, x17, :lo12:1f
    b hdtrace_first_call
    .cfi_endproc
    .size \name, . - \name
    .section .rodata
3:  .asciz "\name"
    .section hdtrace_stubs, "aw"
    .p2align 3
1:  .quad 3b, 2b
    .text
    .endif
    .endm

    .text
    .type hdtrace_first_call, %function
hdtrace_first_call:
    .cfi_startproc
    stp x29, x30, [sp, -224]!
    .cfi_def_cfa_offset 224
    .cfi_offset x29, -224
    .cfi_offset x30, -216
    mov x29, sp
    stp x0, x1, [sp, 16]
    stp x2, x3, [sp, 32]
    stp x4, x5, [sp, 48]
    stp x6, x7, [sp, 64]
    str x8, [sp, 80]
    stp q0, q1, [sp, 96]
    stp q2, q3, [sp, 128]
    stp q4, q5, [sp, 160]
    stp q6, q7, [sp, 192]
    mov x2, x0
    mov x3, x1
    mov x0, x17
    mov x1, x30
    bl hdtrace_target_of
    mov x16, x0
    ldp x0, x1, [sp, 16]
    ldp x2, x3, [sp, 32]
    ldp x4, x5, [sp, 48]
    ldp x6, x7, [sp, 64]
    ldr x8, [sp, 80]
    ldp q0, q1, [sp, 96]
    ldp q2, q3, [sp, 128]
    ldp q4, q5, [sp, 160]
    ldp q6, q7, [sp, 192]
    ldp x29, x30, [sp], 224
    .cfi_def_cfa_offset 0
    br x16
    .cfi_endproc
    .size hdtrace_first_call, . - hdtrace_first_call
)");
#else
#error "Write the stubs for this kind of processor."
#endif

asm(R"(
    .section hdtrace_stubs, "aw"
    .p2align 3
hdtrace_first_stub:
    .text
)");

#define HDT_STUB(name) asm("hdtrace_stub " #name);
#define HDT_WRAPPED(name, standard_name, level, call_class, anytime, frees)                                  \
    HDT_STUB(name)                                                                                           \
    HDT_STUB(P##name)
#include "mpi_functions.inc"
#undef HDT_WRAPPED

// What runtime/recording/exits.cpp, runtime/process/signals.cpp and runtime/sites/unloading.cpp want to hear
// of.
HDT_STUB(_exit)
HDT_STUB(_Exit)
HDT_STUB(execl)
HDT_STUB(execle)
HDT_STUB(execlp)
HDT_STUB(execv)
HDT_STUB(execve)
HDT_STUB(execvp)
HDT_STUB(execvpe)
HDT_STUB(execveat)
HDT_STUB(fexecve)
HDT_STUB(daemon)
HDT_STUB(raise)
HDT_STUB(kill)
HDT_STUB(sigaction)
HDT_STUB(signal)
HDT_STUB(ssignal)
HDT_STUB(bsd_signal)
HDT_STUB(__sysv_signal)
HDT_STUB(sigset)
HDT_STUB(dlclose)
// It looks at each name (selector.cpp).
HDT_STUB(dlsym)

asm(R"(
    .section hdtrace_stubs, "aw"
hdtrace_behind_stubs:
    .text
)");
extern "C" __attribute__((visibility("hidden"))) hdtrace::mpi::Stub hdtrace_first_stub[],
    hdtrace_behind_stubs[];

namespace hdtrace::mpi {

Stub* Stubs::begin() const
{
    return hdtrace_first_stub;
}

Stub* Stubs::end() const
{
    return hdtrace_behind_stubs;
}

} // namespace hdtrace::mpi
