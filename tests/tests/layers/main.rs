//! Layers around calls: what each promises, alone and one inside of another, and whatever tools do meanwhile.

mod approval;
mod calls;
mod concurrency;
mod faults;
mod from_tower;
mod model;
mod rates;
mod retry;
mod tools;
mod traced;
