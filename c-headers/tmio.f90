! Calls that a Fortran program may make to the tmio tracer.
!
! Compile this file with the program, together with tmio_stub.c: the calls then find libtmio.so at
! run time, and do nothing when it is neither preloaded nor linked.
!
!     use tmio
!     ...
!     call iotrace_summary()
!
module tmio
    use, intrinsic :: iso_c_binding, only: c_char, c_null_char
    implicit none
    private
    public :: iotrace_summary, iotrace_pause, iotrace_resume, iotrace_mark

    interface
        ! Writes out what this rank recorded since the last flush.
        subroutine iotrace_summary() bind(c, name="tmio_fortran_summary")
        end subroutine iotrace_summary

        ! Stops recording on this rank.
        subroutine iotrace_pause() bind(c, name="tmio_fortran_pause")
        end subroutine iotrace_pause

        ! Records again after iotrace_pause.
        subroutine iotrace_resume() bind(c, name="tmio_fortran_resume")
        end subroutine iotrace_resume

        subroutine mark(text) bind(c, name="tmio_fortran_mark")
            import :: c_char
            character(kind=c_char), dimension(*), intent(in) :: text
        end subroutine mark
    end interface

contains

    ! Puts a mark with a text into the trace.
    subroutine iotrace_mark(text)
        character(len=*), intent(in) :: text
        call mark(trim(text) // c_null_char)
    end subroutine iotrace_mark

end module tmio
