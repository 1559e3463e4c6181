//! Tests of the public interface of `toolkit-schema`.

mod alias;
mod base64;
mod closed_schemas;
mod compare;
mod contradiction;
mod example;
mod excerpt;
mod formats;
mod hostile_schemas;
mod inline;
mod keys;
mod listed;
mod merge;
mod normal;
mod plan;
mod pointer;
mod portable;
mod real;
mod schema_contract;
mod schemas;
mod secrets;
mod tree;
mod types;
mod view;
mod walk;
