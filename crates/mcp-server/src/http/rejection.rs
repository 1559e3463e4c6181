//! Rejected requests and their responses.

use std::borrow::Cow;

use http::header::{HeaderName, HeaderValue};
use http::{Response, StatusCode};
use toolkit_mcp::{Code, RpcError};

use super::response::{Body, json};
use crate::metrics::RejectReason;

/// A rejected request.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) why: RejectReason,
    pub(super) status: StatusCode,
    code: Code,
    pub(super) message: Cow<'static, str>,
    pub(super) header: Option<(HeaderName, HeaderValue)>,
}

impl Rejection {
    pub(super) fn new(why: RejectReason, status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
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
        let fault = RpcError::bad_request(self.code, self.message);
        let mut response = json(self.status, fault.to_response(None));
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
