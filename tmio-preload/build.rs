//! Gives the library its SONAME.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtmio.so.0");
    println!("cargo:rerun-if-changed=build.rs");
}
