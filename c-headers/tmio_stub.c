/* What tmio.f90 calls: functions that every program has, and that find libtmio.so at run time. */
#include "tmio.h"

void tmio_fortran_summary(void) { iotrace_summary(); }
void tmio_fortran_pause(void) { iotrace_pause(); }
void tmio_fortran_resume(void) { iotrace_resume(); }
void tmio_fortran_mark(const char *text) { iotrace_mark(text); }
