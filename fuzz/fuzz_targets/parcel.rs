//! `sottovoce_node::probe::parcel`, for a fuzzer that sees the code.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sottovoce_node::probe::parcel(bytes));
