! 5 requests, a flush, 5 more requests per rank, through the Fortran module `tmio`.
! usage: fortran_flushes DIRECTORY
program fortran_flushes
  use mpi
  use tmio
  implicit none
  integer :: ierr, rank, i, file
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=1000) :: data
  character(len=2000) :: name
  character(len=8) :: suffix

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, name)
  write (suffix, '(i0)') rank
  name = trim(name) // '/fortran.' // trim(suffix)
  data = repeat('f', 1000)
  call MPI_File_open(MPI_COMM_SELF, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
  if (ierr /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call iotrace_mark('first half')
  do i = 0, 9
    if (i == 5) call iotrace_summary()
    offset = i * 1000
    call MPI_File_write_at(file, offset, data, 1000, MPI_CHARACTER, MPI_STATUS_IGNORE, ierr)
  end do
  call MPI_File_close(file, ierr)
  call MPI_Finalize(ierr)
end program
