//! Recorded replies and conversations of other libraries, which are read in place from the folder `TOOLKIT_FIXTURES`, or
//! `../fixtures` beside the project.

mod conversation;
mod differences;
mod echo;
mod exchange;
mod laws;
mod pairs;
mod result;
mod streams;
