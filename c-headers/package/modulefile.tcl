#%Module1.0
module-whatis "tmio @VERSION@: traces MPI-IO; ftio: finds the period of I/O phases"

set prefix @PREFIX@
prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man
prepend-path CPATH $prefix/include
prepend-path LIBRARY_PATH $prefix/@LIBDIR@
prepend-path LD_LIBRARY_PATH $prefix/@LIBDIR@
prepend-path PKG_CONFIG_PATH $prefix/@LIBDIR@/pkgconfig
prepend-path CMAKE_PREFIX_PATH $prefix
setenv TMIO_LIBRARY $prefix/@LIBDIR@/libtmio.so
