//! `sottovoce_node::probe::record`, for a fuzzer that sees the code.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sottovoce_node::probe::record(bytes));
