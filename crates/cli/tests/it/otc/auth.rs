//! Authentication of the clients of a program.

use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_otc::{Auth, OtcBackend};

use super::provider::Provider;
use super::*;

const SECRET: &str = "s3cr3t of 32 bytes, as HS256 wants";
const GUESS: &str = "gu3ss3d, and 32 bytes long as well";

fn jwt(secret: &str) -> Auth {
    Auth::jwt(secret.to_owned()).unwrap()
}

/// The credentials of a client, and whether a server with the key or secret `right` accepts them.
fn clients() -> [(&'static str, Auth); 5] {
    [
        ("none", Auth::none()),
        ("key", Auth::api_key(SECRET)),
        ("jwt", jwt(SECRET)),
        ("wrong key", Auth::api_key(GUESS)),
        ("wrong jwt", jwt(GUESS)),
    ]
}

#[tokio::test]
async fn a_client_needs_the_credentials_of_the_server() {
    let variables = [("SECRET_OF_TEST", SECRET)];
    for (option, admitted) in [("--token-env", "key"), ("--jwt-secret-env", "jwt")] {
        let provider = Provider::start_with(&format!("auth-{admitted}"), "0", &[option, "SECRET_OF_TEST"], &variables);
        for (shown, auth) in clients() {
            let backend = OtcBackend::new("remote", &provider.url).unwrap().auth(auth);
            // Health checks need no credentials.
            backend.health().await.unwrap();
            match backend.tools().await {
                Ok(_) => {
                    assert_eq!(shown, admitted);
                    let dispatcher = dispatcher_on(backend).await;
                    assert_eq!(dispatcher.call("Math:add", r#"{"a": 1, "b": 2}"#).await.unwrap().value(), 3);
                }
                Err(error) => {
                    assert_ne!(shown, admitted, "{error}");
                    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unauthorized, false));
                    assert!(
                        error
                            .message()
                            .starts_with("the tool server `remote` rejected the credentials of this program")
                    );
                    assert!(!format!("{error:?}").contains("s3cr3t") && !format!("{error:?}").contains("gu3ss3d"));
                }
            }
        }
    }
}

#[test]
fn a_short_secret_of_the_environment_is_rejected() {
    let options = ["serve", "--otc", "0", "--jwt-secret-env", "SECRET_OF_TEST"];
    let mut program = std::process::Command::new(&*TOOLS);
    let output = program.args(options).env("SECRET_OF_TEST", "s3cr3t").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("`--jwt-secret-env`: the secret has 6 bytes"), "{said}");
    assert!(!said.contains("s3cr3t"), "{said}");
}
