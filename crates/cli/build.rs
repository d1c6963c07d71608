//! Nothing is made: dependencies of builds are only looked at where there is a build script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
