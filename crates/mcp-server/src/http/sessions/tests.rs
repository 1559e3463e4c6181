use http::{HeaderMap, HeaderValue};

use super::{MAX_ENDED, SESSION, Sessions, modes_of};
use crate::ask::Modes;

fn headers(name: &str) -> HeaderMap {
    HeaderMap::from_iter([(SESSION, HeaderValue::from_str(name).unwrap())])
}

#[test]
fn a_session_has_a_random_id_that_ends_with_the_modes_of_its_client() {
    for bits in 0..4 {
        let modes = Modes::from_bits(bits);
        let (one, other) = (Sessions::begin(modes).unwrap(), Sessions::begin(modes).unwrap());
        assert_ne!(one, other);
        assert_eq!((one.len(), modes_of(&one).bits()), (34, modes.bits()));
        assert_eq!(Sessions::default().of(&headers(&one)), Ok(Some(&*one)));
    }
    assert!(modes_of("").is_empty() && modes_of("é").is_empty());
}

#[test]
fn an_id_is_one_that_a_server_assigns() {
    let sessions = Sessions::default();
    assert_eq!(sessions.of(&HeaderMap::new()), Ok(None));
    let name = "0123456789abcdef".repeat(3)[..34].to_owned();
    assert_eq!(sessions.of(&headers(&name)), Ok(Some(&*name)));
    for other in ["", &name[1..], &format!("{name}0"), &name.to_uppercase(), &name.replace('a', "g")] {
        assert_eq!(sessions.of(&headers(other)), Err(()), "{other}");
    }
}

#[test]
fn the_sessions_that_have_ended_last_are_rejected() {
    let sessions = Sessions::default();
    let name = |n: usize| format!("{n:034x}");
    for n in 0..MAX_ENDED {
        sessions.end(&name(n));
        sessions.end(&name(n));
    }
    assert_eq!(sessions.of(&headers(&name(0))), Err(()));
    sessions.end(&name(MAX_ENDED));
    assert_eq!(sessions.of(&headers(&name(0))), Ok(Some(&*name(0))));
    for n in [1, MAX_ENDED] {
        assert_eq!(sessions.of(&headers(&name(n))), Err(()), "{n}");
    }
}
