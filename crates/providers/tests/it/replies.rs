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

use std::collections::HashSet;

use toolkit_providers::reply::Api;

#[test]
fn each_api_has_a_name_of_its_own_and_equals_no_other() {
    let names: HashSet<String> = Api::all().map(|api| api.to_string()).collect();
    assert_eq!(names.len(), Api::all().len());
    for (n, api) in Api::all().enumerate() {
        assert_eq!((api.to_string(), format!("{api:?}")), (api.name().to_owned(), format!("Api({})", api.name())));
        for (m, other) in Api::all().enumerate() {
            assert_eq!(api == other, n == m, "{api} and {other}");
        }
    }
}
