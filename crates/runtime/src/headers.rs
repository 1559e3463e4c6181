//! Values of HTTP headers, such as `Retry-After` and media types, and loopback hosts.

use std::net::IpAddr;
#[cfg(feature = "retry-after")]
use std::time::{Duration, SystemTime};

/// The upper bound of a delay that a server requests.
#[cfg(feature = "retry-after")]
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Parses the value of `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3). The delay is at most a day, and zero
/// for a date in the past.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use toolkit_runtime::retry_after;
///
/// assert_eq!(retry_after(" 120 "), Some(Duration::from_secs(120)));
/// assert_eq!(retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
/// assert_eq!(retry_after("soon"), None);
/// ```
#[cfg(feature = "retry-after")]
pub fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    let delay = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        // The number is larger than any limit.
        Err(_) if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => MAX_RETRY_AFTER,
        Err(_) => {
            let left = httpdate::parse_http_date(value).ok()?.duration_since(SystemTime::now()).unwrap_or_default();
            // Whole seconds, rounded up, as in the other form.
            Duration::from_secs(left.as_secs_f64().ceil() as u64)
        }
    };
    Some(delay.min(MAX_RETRY_AFTER))
}

/// Returns the media type of a value of `Content-Type`, without its parameters.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::media_type;
///
/// assert_eq!(media_type("application/json; charset=utf-8"), "application/json");
/// assert!(media_type("Text/Event-Stream").eq_ignore_ascii_case("text/event-stream"));
/// ```
pub fn media_type(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

/// Returns true if a value of `Accept` names a media type, and not with the weight 0. Ranges such as `*/*` do not count.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::accepts;
///
/// assert!(accepts("application/json, Text/Event-Stream;q=0.5", "text/event-stream"));
/// assert!(!accepts("text/event-stream;q=0, text/event-stream-x, */*", "text/event-stream"));
/// ```
pub fn accepts(value: &str, wanted: &str) -> bool {
    // Most requests are asked this. A search for single bytes takes less than a third of one for characters.
    let mut ranges = value.as_bytes().split(|&byte| byte == b',').map(|range| range.split(|&byte| byte == b';'));
    ranges.any(|mut parts| {
        let is_wanted = parts.next().is_some_and(|named| named.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes()));
        is_wanted && !parts.any(is_weight_of_zero)
    })
}

/// Returns true for the parameter `q=0` of a media range.
fn is_weight_of_zero(parameter: &[u8]) -> bool {
    let Some((name, weight)) = str::from_utf8(parameter).ok().and_then(|parameter| parameter.split_once('=')) else {
        return false;
    };
    name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0)
}

/// Returns true if the host of a URL is this machine: `localhost`, or a loopback address. IPv6 addresses may be in
/// brackets.
///
/// A name below `localhost` is not one of these, since a resolver may return any address for it.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::is_loopback;
///
/// assert!(["localhost", "127.0.0.1", "127.8.9.10", "[::1]", "::1"].into_iter().all(is_loopback));
/// assert!(!is_loopback("localhost.example") && !is_loopback("10.0.0.1"));
/// ```
pub fn is_loopback(host: &str) -> bool {
    // Parsing the address takes longer than all other checks of a request.
    if host == "127.0.0.1" || host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let address = match host.strip_prefix('[') {
        Some(host) => host.strip_suffix(']').unwrap_or_default(),
        None => host,
    };
    address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}
