! hdregion.f90 - regions, marks and counters of a Fortran program in the trace of its MPI calls.
!
!     use hdregion
!     type(hd_region), save :: solve = hd_region('solve')
!     type(hd_counter), save :: residual = hd_counter('residual', unit='1')
!
!     call hdr_begin(solve)
!     call hdr_count(residual, 1d-7)
!     call hdr_mark('converged')
!     call hdr_end(solve)
!
! Compile this file with the program: it is all that the program needs, also where hdtrace is not installed. The tracer is
! looked for at the first call; where there is none, nothing is done. `ierr` is 0 or one of the numbers of hdRegion.h.
! docs/regions.md tells everything.
module hdregion
    use, intrinsic :: iso_c_binding
    implicit none
    private

    ! A name for regions and marks, at most 255 bytes. Those with the same name and group are the same.
    type, public :: hd_region
        character(len=255) :: name = ''
        character(len=255) :: group = ''
        integer(c_intptr_t), private :: known = 0
    end type

    ! A counter: of numbers of kind real(c_double) or, where is_integer, integer(c_int64_t). `meaning` is a sum of the
    ! constants below; there are no bounds where both are 0.
    type, public :: hd_counter
        character(len=255) :: name = ''
        character(len=255) :: group = ''
        logical :: is_integer = .false.
        character(len=64) :: unit = ''
        real(c_double) :: lower = 0, upper = 0
        integer :: meaning = 0
        integer(c_intptr_t), private :: known = 0
    end type

    integer, parameter, public :: hd_of_process = 0, hd_of_thread = 1, hd_of_node = 2, hd_of_all = 3
    integer, parameter, public :: hd_after = 0, hd_before = 4, hd_point = 8, hd_sample = 12, hd_rate = 16
    ! What hdr_state() says.
    integer, parameter, public :: hd_untraced = 0, hd_waiting = 1, hd_recording = 2, hd_paused = 3

    public :: hdr_begin, hdr_end, hdr_mark, hdr_count, hdr_pause, hdr_resume, hdr_flush, hdr_state

    ! The thread enters a region: of type(hd_region), or by its name, which is looked up in each call.
    interface hdr_begin
        module procedure begin_region, begin_named
    end interface

    ! It leaves what it has entered last by this name; without one, the last of all.
    interface hdr_end
        module procedure end_region, end_named, end_last
    end interface

    ! Something happened, of which the text tells more.
    interface hdr_mark
        module procedure mark_region, mark_named
    end interface

    ! A value of a counter.
    interface hdr_count
        module procedure count_double, count_single, count_int64, count_int32
    end interface

    ! ---- as in hdRegion.h ----

    type, bind(C) :: c_region
        type(c_ptr) :: group, name, file
        integer(c_int) :: line, flags
        integer(c_intptr_t) :: known
    end type

    type, bind(C) :: c_counter
        type(c_ptr) :: group, name
        integer(c_int) :: number_type
        type(c_ptr) :: unit
        real(c_double) :: lower, upper
        integer(c_int) :: meaning, flags
        type(c_ptr) :: of
        integer(c_intptr_t) :: known
    end type

    type, bind(C) :: c_tracer
        type(c_funptr) :: begin, end, mark, count_integer, count_float, begin_named, end_named, mark_named, at_place, &
                          state, control
    end type

    integer(c_int), parameter :: tracer_version = 1, no_site = 1
    integer(c_int), parameter :: integer_type = 1, float_type = 2

    abstract interface
        function tracer_interface(version) bind(C)
            import :: c_int, c_ptr
            integer(c_int), value :: version
            type(c_ptr) :: tracer_interface
        end function
        function region_interface(region) bind(C)
            import :: c_int, c_region
            type(c_region), intent(inout) :: region
            integer(c_int) :: region_interface
        end function
        function pointer_interface(region) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: region
            integer(c_int) :: pointer_interface
        end function
        function mark_interface(region, text) bind(C)
            import :: c_int, c_ptr, c_region
            type(c_region), intent(inout) :: region
            type(c_ptr), value :: text
            integer(c_int) :: mark_interface
        end function
        function integer_interface(counter, number) bind(C)
            import :: c_int, c_int64_t, c_counter
            type(c_counter), intent(inout) :: counter
            integer(c_int64_t), value :: number
            integer(c_int) :: integer_interface
        end function
        function float_interface(counter, number) bind(C)
            import :: c_int, c_double, c_counter
            type(c_counter), intent(inout) :: counter
            real(c_double), value :: number
            integer(c_int) :: float_interface
        end function
        function state_interface() bind(C)
            import :: c_int
            integer(c_int) :: state_interface
        end function
        function control_interface(what) bind(C)
            import :: c_int
            integer(c_int), value :: what
            integer(c_int) :: control_interface
        end function
    end interface

    interface
        function find_symbol(handle, name) bind(C, name='dlsym')
            import :: c_ptr, c_funptr, c_char
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr) :: find_symbol
        end function
    end interface

    logical, save :: has_looked = .false., is_traced = .false.
    procedure(region_interface), pointer, save :: begin_function => null(), end_function => null()
    procedure(pointer_interface), pointer, save :: end_last_function => null()
    procedure(mark_interface), pointer, save :: mark_function => null()
    procedure(integer_interface), pointer, save :: integer_function => null()
    procedure(float_interface), pointer, save :: float_function => null()
    procedure(state_interface), pointer, save :: state_function => null()
    procedure(control_interface), pointer, save :: control_function => null()

contains

    subroutine find_tracer()
        type(c_funptr) :: found
        type(c_ptr) :: table
        type(c_tracer), pointer :: tracer
        procedure(tracer_interface), pointer :: tracer_of

        found = find_symbol(c_null_ptr, 'hdR_tracer' // c_null_char)
        if (c_associated(found)) then
            call c_f_procpointer(found, tracer_of)
            table = tracer_of(tracer_version)
            if (c_associated(table)) then
                call c_f_pointer(table, tracer)
                call c_f_procpointer(tracer%begin, begin_function)
                call c_f_procpointer(tracer%end, end_function)
                call c_f_procpointer(tracer%end, end_last_function)
                call c_f_procpointer(tracer%mark, mark_function)
                call c_f_procpointer(tracer%count_integer, integer_function)
                call c_f_procpointer(tracer%count_float, float_function)
                call c_f_procpointer(tracer%state, state_function)
                call c_f_procpointer(tracer%control, control_function)
                is_traced = .true.
            end if
        end if
        has_looked = .true.
    end subroutine

    logical function traced()
        if (.not. has_looked) call find_tracer()
        traced = is_traced
    end function

    ! The text as C has it, in memory of the caller; null if it is empty.
    function c_text(text, memory)
        character(len=*), intent(in) :: text
        character(len=*), intent(out), target :: memory
        type(c_ptr) :: c_text
        integer :: length

        length = min(len_trim(text), len(memory) - 1)
        memory(1:length) = text(1:length)
        memory(length + 1:length + 1) = c_null_char
        c_text = c_null_ptr
        if (length > 0) c_text = c_loc(memory)
    end function

    subroutine give(ierr, error)
        integer, intent(out), optional :: ierr
        integer(c_int), intent(in) :: error

        if (present(ierr)) ierr = error
    end subroutine

    ! Names and texts that are too long stay so, for the tracer to refuse them.
    subroutine pass(tracer_function, name, group, known, ierr)
        procedure(region_interface), pointer, intent(in) :: tracer_function
        character(len=*), intent(in) :: name, group
        integer(c_intptr_t), intent(inout) :: known
        integer, intent(out), optional :: ierr
        character(len=257), target :: name_memory, group_memory
        type(c_region) :: own
        integer(c_int) :: error

        own = c_region(c_text(group, group_memory), c_text(name, name_memory), c_null_ptr, 0, no_site, known)
        error = tracer_function(own)
        known = own%known
        call give(ierr, error)
    end subroutine

    subroutine begin_region(region, ierr)
        type(hd_region), intent(inout) :: region
        integer, intent(out), optional :: ierr

        call give(ierr, 0)
        if (traced()) call pass(begin_function, region%name, region%group, region%known, ierr)
    end subroutine

    subroutine begin_named(name, ierr)
        character(len=*), intent(in) :: name
        integer, intent(out), optional :: ierr
        integer(c_intptr_t) :: known

        known = 0
        call give(ierr, 0)
        if (traced()) call pass(begin_function, name, '', known, ierr)
    end subroutine

    subroutine end_region(region, ierr)
        type(hd_region), intent(inout) :: region
        integer, intent(out), optional :: ierr

        call give(ierr, 0)
        if (traced()) call pass(end_function, region%name, region%group, region%known, ierr)
    end subroutine

    subroutine end_named(name, ierr)
        character(len=*), intent(in) :: name
        integer, intent(out), optional :: ierr
        integer(c_intptr_t) :: known

        known = 0
        call give(ierr, 0)
        if (traced()) call pass(end_function, name, '', known, ierr)
    end subroutine

    subroutine end_last(ierr)
        integer, intent(out), optional :: ierr
        integer(c_int) :: error

        error = 0
        if (traced()) error = end_last_function(c_null_ptr)
        call give(ierr, error)
    end subroutine

    subroutine mark_region(region, text, ierr)
        type(hd_region), intent(inout) :: region
        character(len=*), intent(in), optional :: text
        integer, intent(out), optional :: ierr

        call pass_mark(region%name, region%group, region%known, text, ierr)
    end subroutine

    subroutine mark_named(name, text, ierr)
        character(len=*), intent(in) :: name
        character(len=*), intent(in), optional :: text
        integer, intent(out), optional :: ierr
        integer(c_intptr_t) :: known

        known = 0
        call pass_mark(name, '', known, text, ierr)
    end subroutine

    subroutine pass_mark(name, group, known, text, ierr)
        character(len=*), intent(in) :: name, group
        integer(c_intptr_t), intent(inout) :: known
        character(len=*), intent(in), optional :: text
        integer, intent(out), optional :: ierr
        character(len=257), target :: name_memory, group_memory
        character(len=1002), target :: text_memory
        type(c_region) :: own
        type(c_ptr) :: own_text
        integer(c_int) :: error

        error = 0
        if (traced()) then
            own = c_region(c_text(group, group_memory), c_text(name, name_memory), c_null_ptr, 0, no_site, known)
            own_text = c_null_ptr
            if (present(text)) own_text = c_text(text, text_memory)
            error = mark_function(own, own_text)
            known = own%known
        end if
        call give(ierr, error)
    end subroutine

    subroutine count_double(counter, number, ierr)
        type(hd_counter), intent(inout) :: counter
        real(c_double), intent(in) :: number
        integer, intent(out), optional :: ierr
        character(len=257), target :: name, group, unit
        type(c_counter) :: own
        integer(c_int) :: error

        error = 0
        if (traced()) then
            own = counter_of(counter, name, group, unit)
            error = float_function(own, number)
            counter%known = own%known
        end if
        call give(ierr, error)
    end subroutine

    subroutine count_single(counter, number, ierr)
        type(hd_counter), intent(inout) :: counter
        real(c_float), intent(in) :: number
        integer, intent(out), optional :: ierr

        call count_double(counter, real(number, c_double), ierr)
    end subroutine

    subroutine count_int64(counter, number, ierr)
        type(hd_counter), intent(inout) :: counter
        integer(c_int64_t), intent(in) :: number
        integer, intent(out), optional :: ierr
        character(len=257), target :: name, group, unit
        type(c_counter) :: own
        integer(c_int) :: error

        error = 0
        if (traced()) then
            own = counter_of(counter, name, group, unit)
            error = integer_function(own, number)
            counter%known = own%known
        end if
        call give(ierr, error)
    end subroutine

    subroutine count_int32(counter, number, ierr)
        type(hd_counter), intent(inout) :: counter
        integer(c_int32_t), intent(in) :: number
        integer, intent(out), optional :: ierr

        call count_int64(counter, int(number, c_int64_t), ierr)
    end subroutine

    function counter_of(counter, name, group, unit)
        type(hd_counter), intent(in) :: counter
        character(len=257), intent(out), target :: name, group, unit
        type(c_counter) :: counter_of

        counter_of = c_counter(c_text(counter%group, group), c_text(counter%name, name), &
                               merge(integer_type, float_type, counter%is_integer), c_text(counter%unit, unit), &
                               counter%lower, counter%upper, counter%meaning, no_site, c_null_ptr, counter%known)
    end function

    ! The same as MPI_Pcontrol with 0, 1 and 2.
    subroutine hdr_pause()
        call control(0)
    end subroutine

    subroutine hdr_resume()
        call control(1)
    end subroutine

    subroutine hdr_flush()
        call control(2)
    end subroutine

    subroutine control(what)
        integer(c_int), intent(in) :: what
        integer(c_int) :: error

        if (traced()) error = control_function(what)
    end subroutine

    integer function hdr_state()
        hdr_state = hd_untraced
        if (traced()) hdr_state = state_function()
    end function

end module hdregion
