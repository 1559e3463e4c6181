//! The capability `elicitation` of clients.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::call::ask::Mode;

/// The ways in which a client can ask its user, from its capability `elicitation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modes(u8);

const FORM: u8 = 1;
const URL: u8 = 2;

/// The client knows only the forms of revision 2025-06-18.
const PLAIN: u8 = 4;

impl Modes {
    /// Reads `ClientCapabilities`.
    pub(crate) fn declared(capabilities: &str) -> Self {
        #[derive(Deserialize)]
        struct Capabilities<'m> {
            #[serde(borrow)]
            elicitation: Option<&'m RawValue>,
        }
        #[derive(Deserialize)]
        struct Elicitation {
            form: Option<Value>,
            url: Option<Value>,
        }
        let capabilities = serde_json::from_str::<Capabilities<'_>>(capabilities);
        let Some(declared) = capabilities.ok().and_then(|capabilities| capabilities.elicitation) else {
            return Self::default();
        };
        match serde_json::from_str(declared.get()) {
            // An empty object declares forms, since revision 2025-06-18 has no other mode.
            Ok(Elicitation { form: None, url: None }) if declared.get().starts_with('{') => Self(FORM),
            Ok(Elicitation { form, url }) => Self(form.map_or(0, |_| FORM) | url.map_or(0, |_| URL)),
            Err(_) => Self::default(),
        }
    }

    pub(crate) fn includes(self, mode: Mode) -> bool {
        let bit = match mode {
            Mode::Form => FORM,
            Mode::Url => URL,
            _ => 0,
        };
        self.0 & bit != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 & (FORM | URL) == 0
    }

    /// Restricts the forms to those of revision 2025-06-18.
    pub(crate) fn with_plain_forms(self) -> Self {
        Self(self.0 | PLAIN)
    }

    /// Returns true if the client knows only the forms of revision 2025-06-18.
    pub(crate) fn has_plain_forms(self) -> bool {
        self.0 & PLAIN != 0
    }

    /// Returns the modes as bits, for [`Modes::from_bits`].
    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    /// Reads the bits of a session id. A client that changes them changes only what it declares about itself.
    pub(crate) fn from_bits(bits: u8) -> Self {
        Self(bits & (FORM | URL | PLAIN))
    }
}
