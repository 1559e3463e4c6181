use http::{HeaderMap, HeaderValue};

use super::{MAX_ENDED, SESSION, Sessions, modes_of};
use crate::ask::Modes;
use crate::request::Caller;

fn headers(name: &str) -> HeaderMap {
    HeaderMap::from_iter([(SESSION, HeaderValue::from_str(name).unwrap())])
}

#[test]
fn a_session_has_a_random_id_with_the_modes_of_its_client() {
    let sessions = Sessions::default();
    for bits in 0..4 {
        let modes = Modes::from_bits(bits);
        let (one, other) = (sessions.begin(modes).unwrap(), sessions.begin(modes).unwrap());
        assert_ne!(one, other);
        assert_eq!((one.len(), modes_of(&one).bits()), (50, modes.bits()));
        assert_eq!(Sessions::default().of(&headers(&one), None), Ok(Some((&*one).into())));
    }
    assert!(modes_of("").is_empty() && modes_of("é").is_empty());
}

#[test]
fn an_id_is_one_that_a_server_assigns() {
    let sessions = Sessions::default();
    assert_eq!(sessions.of(&HeaderMap::new(), None), Ok(None));
    let name = sessions.begin(Modes::default()).unwrap();
    for other in ["", &name[1..], &format!("{name}0"), &name.to_uppercase(), &name.replace('0', "g")] {
        assert_eq!(sessions.of(&headers(other), None), Err(()), "{other}");
    }
}

#[test]
fn a_session_that_has_begun_in_this_process_differs_from_an_invented_one() {
    let sessions = Sessions::default();
    let name = sessions.begin(Modes::default()).unwrap();
    assert!(sessions.has_begun(&name));
    for at in (0..name.len()).step_by(7) {
        let digit = if name.as_bytes()[at] == b'0' { "1" } else { "0" };
        let changed = format!("{}{digit}{}", &name[..at], &name[at + 1..]);
        assert!(!sessions.has_begun(&changed), "{changed}");
    }
    let earlier = Sessions::default().begin(Modes::default()).unwrap();
    assert!(!sessions.has_begun(&earlier) && !sessions.has_begun("") && !sessions.has_begun(&name[2..]));
}

#[test]
fn an_id_that_another_caller_sends_is_another_session() {
    let (ada, bob, nobody) = (Caller::named("ada"), Caller::named("bob"), Caller::default());
    let sessions = Sessions::default();
    let id = sessions.begin(Modes::from_bits(1)).unwrap();
    let sent = headers(&id);
    let of = |caller: Option<&Caller>| sessions.of(&sent, caller).unwrap().unwrap();
    let names = [of(Some(&ada)), of(Some(&bob)), of(Some(&nobody))];
    assert!(names[0] != names[1] && names[2] == id && of(None) == id && of(Some(&ada)) == names[0]);
    assert!(names.iter().all(|name| sessions.has_begun(name) && modes_of(name).bits() == 1));
    sessions.end(&names[0]);
    assert_eq!(sessions.of(&sent, Some(&ada)), Err(()));
    assert_eq!(of(Some(&bob)), names[1]);
    // The name is no id.
    assert_eq!(sessions.of(&headers(&names[1]), None), Err(()));
}

#[test]
fn the_sessions_that_have_ended_last_are_rejected() {
    let sessions = Sessions::default();
    let name = |n: usize| format!("{n:050x}");
    for n in 0..MAX_ENDED {
        sessions.end(&name(n));
        sessions.end(&name(n));
    }
    assert_eq!(sessions.of(&headers(&name(0)), None), Err(()));
    sessions.end(&name(MAX_ENDED));
    assert_eq!(sessions.of(&headers(&name(0)), None), Ok(Some((&*name(0)).into())));
    for n in [1, MAX_ENDED] {
        assert_eq!(sessions.of(&headers(&name(n)), None), Err(()), "{n}");
    }
}
