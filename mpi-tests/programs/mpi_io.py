"""MPI-IO from Python: each rank, in a file of its own, 10 writes and 10 reads of 1000 bytes, 5 nonblocking
writes of 100 bytes, and with the others 3 collective writes of 500 bytes to a file that they share. usage:
mpi_io.py DIRECTORY"""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
mode = MPI.MODE_CREATE | MPI.MODE_RDWR
own = MPI.File.Open(MPI.COMM_SELF, f"{sys.argv[1]}/python.{comm.rank}", mode)
data = bytearray(b"p" * 1000)
for i in range(10):
    own.Write_at(i * 1000, data)
for i in range(10):
    own.Read_at(i * 1000, data)
for i in range(5):
    own.Iwrite_at(10_000 + i * 100, data[:100]).Wait()
own.Close()
shared = MPI.File.Open(comm, f"{sys.argv[1]}/python.shared", mode)
for i in range(3):
    shared.Write_at_all((i * comm.size + comm.rank) * 500, data[:500])
shared.Close()
if data != b"p" * 1000:
    comm.Abort(1)
