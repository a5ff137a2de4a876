! MPI-IO from Fortran through `include 'mpif.h'`. Each rank, in a file of its own: 10 MPI_File_write_at of
! 1000 bytes, 10 MPI_File_read_at of them, 5 MPI_File_iwrite_at of 100 bytes, each with its MPI_Wait.
! usage: fortran_mpif_h NAME, the files are NAME.RANK
program fortran_mpif_h
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, i
  integer(kind=MPI_OFFSET_KIND) :: offset
  integer :: file
  integer :: request
  integer :: status(MPI_STATUS_SIZE)
  character(len=1000) :: data
  character(len=2000) :: name
  character(len=8) :: suffix

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, name)
  write (suffix, '(i0)') rank
  name = trim(name) // '.' // trim(suffix)
  data = repeat('f', 1000)
  call MPI_File_open(MPI_COMM_SELF, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
  if (ierr /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  do i = 0, 9
    offset = i * 1000
    call MPI_File_write_at(file, offset, data, 1000, MPI_CHARACTER, status, ierr)
  end do
  do i = 0, 9
    offset = i * 1000
    call MPI_File_read_at(file, offset, data, 1000, MPI_CHARACTER, status, ierr)
  end do
  if (data /= repeat('f', 1000)) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  do i = 0, 4
    offset = 10000 + i * 100
    call MPI_File_iwrite_at(file, offset, data, 100, MPI_CHARACTER, request, ierr)
    call MPI_Wait(request, status, ierr)
  end do
  call MPI_File_close(file, ierr)
  call MPI_Finalize(ierr)
end program
