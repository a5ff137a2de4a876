whatis("tmio @VERSION@: traces MPI-IO; ftio: finds the period of I/O phases")

local prefix = "@PREFIX@"
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("CPATH", pathJoin(prefix, "include"))
prepend_path("LIBRARY_PATH", pathJoin(prefix, "@LIBDIR@"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "@LIBDIR@"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "@LIBDIR@/pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
setenv("TMIO_LIBRARY", pathJoin(prefix, "@LIBDIR@/libtmio.so"))
