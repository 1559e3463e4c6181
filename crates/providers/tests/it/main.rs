//! Tests of the public interface of `toolkit-providers`.

mod adapters;
mod cost;
mod html;
mod markdown;
mod matrix;
mod openapi;
mod order;
mod replies;
mod requests;
mod restore;
mod typescript;
