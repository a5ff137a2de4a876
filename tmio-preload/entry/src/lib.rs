//! `libtmio.so`, the object that is preloaded: the names that programs find, and the layers posix and stdio.
//!
//! It is loaded into every process of a site, so it costs a process that does nothing next to nothing: it
//! needs no other library, has nothing to be filled in when it is loaded, and writes one page. What it does
//! beyond passing calls on is decided when it is loaded (`load`). Everything about MPI is in the recorder
//! beside it (`recorder`), which is loaded by the first call of MPI; everything about files of traces is
//! done by the helper process (`helper`).
//!
//! Everywhere in here: no function of the C library that somebody may stand in for, no `errno`, no lock that
//! a signal handler could wait for, no memory on the caller's stack beyond a few hundred bytes, no panic.
//!
//! | to add | go to |
//! |---|---|
//! | a function that moves data | a row in `data` |
//! | a function that opens or closes | a row in `files` |
//! | a function of MPI | `exported-symbols.txt`, and the recorder |

#![cfg_attr(tmio_object, no_std)]
#![allow(clippy::missing_safety_doc, missing_debug_implementations, non_snake_case)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("libtmio.so is made for x86-64 and aarch64");

mod aio;
mod anew;
mod beside;
#[cfg(tmio_object)]
mod builtins;
pub mod c_abi;
mod clock;
mod data;
mod descriptors;
mod elf;
mod entry;
mod environment;
mod files;
mod filter;
mod helper;
mod known;
mod life;
mod load;
mod mpi;
mod names;
mod page;
mod patterns;
mod process_io;
mod recorder;
mod recording;
mod rights;
mod rings;
mod services;
mod settings;
mod spool;
mod stdio;
mod sys;
mod telling;
mod text;
mod thread;
mod vfork;
mod words;
mod workshop;

/// There is nothing that could be done, and nothing that gets here.
#[cfg(tmio_object)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
