//! The Model Context Protocol on the command line, `serve`, and its results in the replies of models.

mod exported;
mod followed;
mod gateway;
mod limits;
mod operated;
mod proxied;
mod reloaded;
mod replies;
mod restarts;
mod stdio;
mod stored;
