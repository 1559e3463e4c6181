//! Tests of the public interface of `toolkit-schema`.

mod closed_schemas;
mod formats;
mod hostile_schemas;
mod listed;
mod plan;
mod schema_contract;
mod schemas;
mod secrets;
