//! Linking and packaging of tools, with complete programs.

mod programs;
