//! Logins of the MCP client, against an authorization server that misbehaves on request.
//!
//! Each defect has a counterpart without it that succeeds: the login of [`world`] as it is.

mod client_credentials;
mod configuration;
mod discovery;
mod files;
mod redirects;
mod registration;
mod renewal;
mod secrets;
mod step_up;
pub mod token_exchange;
pub mod world;

use toolkit_mcp_client::OAuth;

use self::world::{World, login};

/// Returns the error of a login.
async fn login_error(world: &World) -> String {
    login(&world.endpoint(OAuth::new())).await.unwrap_err().to_string()
}
