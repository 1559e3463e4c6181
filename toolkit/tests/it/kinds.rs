//! The kinds of errors.

use toolkit::call::{ErrorKind, Stage};

#[test]
fn each_kind_has_a_stage_and_tells_whether_the_tool_may_have_started() {
    let expected = |kind: ErrorKind| match kind {
        ErrorKind::UnknownTool | ErrorKind::AmbiguousTool => (Stage::Resolve, false),
        ErrorKind::NoBackend => (Stage::Select, false),
        ErrorKind::MissingRequirements => (Stage::Require, false),
        ErrorKind::TooLarge | ErrorKind::MalformedJson | ErrorKind::InvalidArguments => (Stage::ValidateInput, false),
        ErrorKind::Denied | ErrorKind::Pending => (Stage::Approve, false),
        ErrorKind::Unavailable | ErrorKind::Unauthorized | ErrorKind::Overloaded | ErrorKind::NeedsRuntime => {
            (Stage::Invoke, false)
        }
        ErrorKind::InvalidResponse => (Stage::Normalize, true),
        ErrorKind::ResultTooLarge | ErrorKind::InvalidOutput => (Stage::ValidateOutput, true),
        _ => (Stage::Invoke, true),
    };
    for kind in ErrorKind::ALL {
        assert_eq!((kind.stage(), kind.may_have_started()), expected(kind), "{kind}");
        assert_eq!(ErrorKind::from_name(kind.name()), Some(kind));
        assert_eq!(kind.to_string(), kind.name());
    }
    assert_eq!(ErrorKind::from_name("Failed"), None);
}
