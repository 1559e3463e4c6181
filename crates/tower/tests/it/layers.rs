//! The layers of `toolkit-tower`, alone and combined, with well-behaved and misbehaving tools.

mod approval;
mod asking;
mod calls;
mod concurrency;
mod faults;
mod from_tower;
mod model;
mod rates;
mod retry;
mod tools;
mod traced;
