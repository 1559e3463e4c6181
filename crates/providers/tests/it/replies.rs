//! Replies of models: calls are read, run and answered in the format of each provider.

mod anthropic;
mod bedrock;
mod chat;
mod coercion;
mod cohere;
mod conversations;
mod forms;
mod gemini;
mod interactions;
mod laws;
mod mistral;
mod ollama;
mod recorded;
mod responses;
mod run;
mod stop_reasons;
mod xai;
