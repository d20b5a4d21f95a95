! The same as gradient.c, from Fortran, with OpenMP for the threads.
!
!     gfortran -fopenmp gradient.f90 sequence.o libjut_runtime.a -o gradient
!
! A row-major array [v, n] of jut is an array (n, v) of Fortran: nothing is copied.
module sequence
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: jut_error
    integer(c_int32_t) :: status, line, column, count
    type(c_ptr) :: message
    integer(c_int64_t) :: numbers(3)
  end type

  interface
    function jut_workspace_new() result(workspace) bind(c)
      import :: c_ptr
      type(c_ptr) :: workspace
    end function

    subroutine jut_workspace_free(workspace) bind(c)
      import :: c_ptr
      type(c_ptr), value :: workspace
    end subroutine

    function loss_value_grad(v, n, k, table, decay, words, target, value, grad_table, grad_decay, &
        workspace, error) result(status) bind(c)
      import :: c_int, c_int64_t, c_double, c_ptr, jut_error
      integer(c_int64_t), value :: v, n, k
      real(c_double), intent(in) :: table(n, v), target(n)
      real(c_double), value :: decay
      integer(c_int64_t), intent(in) :: words(k)
      real(c_double), intent(out) :: value, grad_table(n, v), grad_decay
      type(c_ptr), value :: workspace
      type(jut_error), intent(out) :: error
      integer(c_int) :: status
    end function

    function loss_hvp(v, n, k, table, decay, words, target, table_tangent, decay_tangent, &
        hvp_table, hvp_decay, workspace, error) result(status) bind(c)
      import :: c_int, c_int64_t, c_double, c_ptr, jut_error
      integer(c_int64_t), value :: v, n, k
      real(c_double), intent(in) :: table(n, v), target(n), table_tangent(n, v)
      real(c_double), value :: decay, decay_tangent
      integer(c_int64_t), intent(in) :: words(k)
      real(c_double), intent(out) :: hvp_table(n, v), hvp_decay
      type(c_ptr), value :: workspace
      type(jut_error), intent(out) :: error
      integer(c_int) :: status
    end function

    function strlen(text) result(length) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface
end module

program gradient
  use sequence
  implicit none

  integer(c_int64_t), parameter :: v = 5, n = 3, words(6) = [0, 3, 1, 4, 3, 2]
  real(c_double), parameter :: decays(2) = [0.5d0, 0.875d0]
  real(c_double) :: table(n, v), tangent(n, v), target(n)
  real(c_double) :: values(2), grad_table(n, v, 2), grad_decay(2), hvp_table(n, v, 2), hvp_decay(2)
  integer(c_int) :: status(2)
  type(c_ptr) :: workspace
  type(jut_error) :: error
  integer :: i, k, call

  table = reshape([(mod(i * 7, 11) / 8.0d0 - 0.5d0, i = 0, 14)], shape(table))
  tangent = reshape([(mod(i, 4) - 1.5d0, i = 0, 14)], shape(tangent))
  target = [(0.25d0 * i, i = 0, 2)]

  !$omp parallel do num_threads(2) private(workspace, error, call)
  do k = 1, 2
    workspace = jut_workspace_new()
    do call = 1, 1000
      status(k) = loss_value_grad(v, n, size(words, kind=c_int64_t), table, decays(k), words, &
        target, values(k), grad_table(:, :, k), grad_decay(k), workspace, error)
      if (status(k) /= 0) exit
      status(k) = loss_hvp(v, n, size(words, kind=c_int64_t), table, decays(k), words, target, &
        tangent, 0.5d0, hvp_table(:, :, k), hvp_decay(k), workspace, error)
      if (status(k) /= 0) exit
    end do
    call jut_workspace_free(workspace)
  end do
  !$omp end parallel do

  do k = 1, 2
    if (status(k) /= 0) error stop "a call failed"
    call print_bits("value", [values(k)])
    call print_bits("table", reshape(grad_table(:, :, k), [15]))
    call print_bits("decay", [grad_decay(k)])
    call print_bits("hvp table", reshape(hvp_table(:, :, k), [15]))
    call print_bits("hvp decay", [hvp_decay(k)])
  end do

  ! A word that the table does not have.
  workspace = jut_workspace_new()
  status(1) = loss_value_grad(v, n, 1_c_int64_t, table, 0.5d0, [7_c_int64_t], target, values(1), &
    grad_table(:, :, 1), grad_decay(1), workspace, error)
  call jut_workspace_free(workspace)
  write (*, "(a, i0, a, *(i0, :, ', '))", advance="no") "status ", status(1), ": " // &
    text(error%message) // " (", error%numbers(:error%count)
  write (*, "(a)") ")"

contains

  subroutine print_bits(name, x)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: x(:)
    integer :: i
    character(16) :: digits
    write (*, "(a)", advance="no") name
    do i = 1, size(x)
      write (digits, "(z16.16)") transfer(x(i), 0_c_int64_t)
      write (*, "(a)", advance="no") " " // lower(digits)
    end do
    write (*, "()")
  end subroutine

  pure function lower(digits)
    character(16), intent(in) :: digits
    character(16) :: lower
    integer :: i
    do i = 1, 16
      lower(i:i) = digits(i:i)
      if (lge(digits(i:i), "A")) lower(i:i) = achar(iachar(digits(i:i)) + 32)
    end do
  end function

  function text(pointer)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(pointer, letters, [strlen(pointer)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function
end program
