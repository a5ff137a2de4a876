// A program of MPI in Rust: each rank writes 10 times 1000 bytes with Rust's own library.
// usage: written_in_rust DIRECTORY
use std::ffi::{c_char, c_int};
use std::io::Write;

extern "C" {
    fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int;
    fn MPI_Finalize() -> c_int;
}

fn main() {
    let directory = std::env::args().nth(1).expect("a directory");
    // SAFETY: MPI takes null pointers for "no arguments", and both are called once, by the only thread.
    unsafe { MPI_Init(std::ptr::null_mut(), std::ptr::null_mut()) };
    let mut file = std::fs::File::create(format!("{directory}/of-{}", std::process::id())).unwrap();
    for _ in 0..10 {
        file.write_all(&[7; 1000]).unwrap();
    }
    drop(file);
    unsafe { MPI_Finalize() };
}
