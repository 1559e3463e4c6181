//! Tests of the public interface of `toolkit-schema`.

mod base64;
mod closed_schemas;
mod compare;
mod excerpt;
mod formats;
mod hostile_schemas;
mod listed;
mod merge;
mod plan;
mod real;
mod schema_contract;
mod schemas;
mod secrets;
mod view;
