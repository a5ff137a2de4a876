//! Gives the library its SONAME, and keeps it in memory once it was loaded: threads, exit handlers and
//! MPI's callbacks may point into it until the process ends.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtmio.so.0");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
