//! Rejected requests and their responses.

use std::borrow::Cow;

use http::{HeaderName, HeaderValue, Response, StatusCode};

use super::body::Body;
use super::response::json;
use crate::server::metrics::Refused;
use crate::server::reply::{Code, Fault};

/// A rejected request.
#[derive(Debug)]
pub(super) struct Denied {
    pub(super) why: Refused,
    status: StatusCode,
    code: Code,
    message: Cow<'static, str>,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Denied {
    pub(super) fn new(why: Refused, status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { why, status, code: Code::InvalidRequest, message: message.into(), header: None }
    }

    /// Sets the code, for an error that is not the fault of the request.
    pub(super) fn with_code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    pub(super) fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let fault = Fault::of_envelope(self.code, self.message);
        let mut response = json(self.status, fault.to_response(None));
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
