# find_package(tmio) gives
#   tmio::tmio     the tracer, linked into the program; name it before the MPI library
#   tmio::header   only tmio.h: its calls do nothing unless libtmio.so is preloaded
#   tmio::fortran  the same for Fortran, with the module `tmio` compiled by the project's own compiler

get_filename_component(_tmio_prefix "${CMAKE_CURRENT_LIST_DIR}/../../@UP@" ABSOLUTE)

if(NOT TARGET tmio::header)
  add_library(tmio::header INTERFACE IMPORTED)
  set_target_properties(tmio::header PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_tmio_prefix}/include"
    INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")

  # The program itself calls nothing of the library, so the linker has to be told to keep it.
  add_library(tmio::tmio INTERFACE IMPORTED)
  set_target_properties(tmio::tmio PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_tmio_prefix}/include"
    INTERFACE_LINK_LIBRARIES
      "-Wl,--push-state,--no-as-needed;${_tmio_prefix}/@LIBDIR@/libtmio.so;-Wl,--pop-state;${CMAKE_DL_LIBS}"
    INTERFACE_LINK_OPTIONS "-Wl,-rpath,${_tmio_prefix}/@LIBDIR@")

  add_library(tmio::fortran INTERFACE IMPORTED)
  set_target_properties(tmio::fortran PROPERTIES
    INTERFACE_SOURCES "${_tmio_prefix}/share/tmio/tmio.f90"
    INTERFACE_LINK_LIBRARIES "${_tmio_prefix}/@LIBDIR@/libtmio_fortran.a;${CMAKE_DL_LIBS}")
endif()

unset(_tmio_prefix)
