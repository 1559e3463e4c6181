//! The credentials of the user, from the environment of the process.

#[cfg(any(feature = "calls", feature = "chain", feature = "code"))]
use toolkit::Context;
use toolkit::call::Credentials;
use toolkit::tool::Requirements;

/// The variable that holds the id of the user.
pub(crate) const USER_ID: &str = "USER_ID";

/// Reads the credentials that a tool requires from the environment: a secret from the variable of the same name, the token
/// of a provider from `PROVIDER_TOKEN`, and the id of the user from `USER_ID`.
pub(crate) fn from_environment(required: &Requirements) -> Credentials {
    let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut held = Credentials::new();
    for secret in &required.secrets {
        if let Some(value) = given(&secret.id) {
            held = held.with_secret(&*secret.id, value);
        }
    }
    for authorization in &required.authorization {
        if let Some(token) = given(&token_variable(&authorization.id)) {
            held = held.with_token(&*authorization.id, token);
        }
    }
    match given(USER_ID) {
        Some(user_id) if required.user_id => held.with_user_id(user_id),
        _ => held,
    }
}

/// Returns a context in which each call of a program or a chain has the credentials that its tool requires, from the
/// environment.
#[cfg(any(feature = "calls", feature = "chain", feature = "code"))]
pub(crate) fn of_each_tool(context: Context) -> Context {
    context.nested_with(|tool, context| Ok(context.with_credentials(from_environment(tool.requirements()))))
}

/// Returns the names of the variables that are read for missing credentials.
pub(crate) fn variables(missing: &Requirements) -> Vec<String> {
    let secrets = missing.secrets.iter().map(|secret| secret.id.to_string());
    let tokens = missing.authorization.iter().map(|authorization| token_variable(&authorization.id));
    secrets.chain(tokens).chain(missing.user_id.then(|| USER_ID.to_owned())).collect()
}

fn token_variable(provider: &str) -> String {
    let name = provider.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    format!("{name}_TOKEN")
}
