//! Questions of a running call to its user: in the event stream of the call (`stream`), or through its task (`task`).

mod stream;
mod task;

pub(super) use self::stream::StreamAsker;
pub(super) use self::task::TaskAsker;
