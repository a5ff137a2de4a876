"""Writes ten datasets through parallel HDF5, collectively and independently, and reads them back."""

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rows = 4096
with h5py.File("h5py.h5", "w", driver="mpio", comm=comm) as file:
    for step in range(10):
        data = file.create_dataset(f"step{step}", (comm.size * rows,), dtype="f8")
        mine = slice(comm.rank * rows, (comm.rank + 1) * rows)
        if step % 2:
            with data.collective:
                data[mine] = np.arange(rows) + step + comm.rank
        else:
            data[mine] = np.arange(rows) + step + comm.rank
with h5py.File("h5py.h5", "r", driver="mpio", comm=comm) as file:
    total = sum(float(file[f"step{step}"][:].sum()) for step in range(10))
if comm.rank == 0:
    print(f"sum {total}")
