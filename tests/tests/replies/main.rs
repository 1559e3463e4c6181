//! Replies of models: calls are read, run and answered in the format of each provider.

mod anthropic;
mod bedrock;
mod gemini;
mod laws;
mod mcp;
mod recorded;
mod responses;
mod run;
