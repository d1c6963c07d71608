//! Integration tests of this crate, one module for each subject.
#![allow(clippy::unwrap_used)]

mod account;
mod audit;
mod audit_source;
mod averaging;
mod averaging_walk;
mod book;
mod cancelling;
mod common;
mod console;
mod deep;
mod deep_pairs;
#[cfg(feature = "node")]
mod deploy;
mod experiments;
mod graph;
mod graph_files;
mod lean;
mod learning;
mod learning_data;
mod learning_graphs;
mod limits;
mod masks;
mod mechanism;
mod names;
mod node;
#[cfg(feature = "node")]
mod node_transcript;
mod personalized;
mod plan;
mod quickstart;
mod rumor;
mod rumor_pages;
mod same_answer;
mod schema;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod serve_browser;
mod tables;
mod transcript_edits;
mod transcripts;
mod walk;
mod width;
