//! `serve --http --issuer URL --audience URL`: callers with access tokens of an authorization server.

#[cfg(feature = "jwt")]
use clap::ArgMatches;
use clap::{Arg, ArgAction};

use crate::options::{option, unless};

/// Returns the options, which are hidden without the feature `jwt`.
pub(super) fn options() -> [Arg; 3] {
    let several =
        |name: &'static str, value: &'static str| option(name, value).action(ArgAction::Append).requires("issuer");
    [
        option("issuer", "URL")
            .requires("http")
            .requires("audience")
            .conflicts_with_all(["token-env", "allow-unauthenticated"])
            .help("Require access tokens (JWT) of this authorization server"),
        several("audience", "URL").help("URL of this server, for which the tokens must be"),
        several("scope", "SCOPE").help("Require this scope for every request"),
    ]
    .map(|option| unless(cfg!(feature = "jwt"), "jwt", option))
}

/// Requires the tokens of `--issuer`, and publishes where clients obtain them. Requests for the host of an audience are
/// accepted.
///
/// # Errors
///
/// Returns an error if the URLs are invalid, or the variable of another token is set.
#[cfg(feature = "jwt")]
pub(super) fn require(
    mut http: toolkit_mcp_server::Http,
    matches: &ArgMatches,
) -> Result<toolkit_mcp_server::Http, crate::error::CommandError> {
    use toolkit_mcp_server::Jwt;

    use crate::error::CommandError;
    use crate::listen::{self, TOKEN};

    let Some(issuer) = matches.get_one::<String>("issuer") else { return Ok(http) };
    if listen::token(matches)?.is_some() {
        let message = format!("{TOKEN} is set, and --issuer requires the tokens of callers: use one of them");
        return Err(CommandError::usage(message));
    }
    let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
    let audiences: Vec<&String> = texts("audience").collect();
    for audience in &audiences {
        let host = host(audience).ok_or_else(|| {
            let message =
                format!("--audience: `{audience}` is not the URL of a server, such as https://tools.example/mcp");
            CommandError::usage(message)
        })?;
        http = http.allow_host(host);
    }
    let tokens = Jwt::issuer(issuer).map_err(|error| CommandError::usage(format!("--issuer: {error}")))?;
    let tokens = tokens.audience(audiences[0].as_str());
    let tokens = audiences[1..].iter().fold(tokens, |tokens, audience| tokens.audience(audience.as_str()));
    Ok(http.resource(audiences[0].as_str(), [issuer.as_str()]).scopes(texts("scope").cloned()).verify(tokens))
}

/// Returns the host of the URL of a server, with its port if it has one.
#[cfg(feature = "jwt")]
fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split('/').next()?;
    (super::host(host).is_ok() && !url.contains(['?', '#'])).then_some(host)
}
