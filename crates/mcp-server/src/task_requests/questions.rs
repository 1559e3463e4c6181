//! Questions to clients before revision 2026-07-28 that poll a task until its end.
//!
//! A task sends its questions while the client waits for `tasks/result`, which the specification recommends as soon as
//! the status is `input_required`. Clients of the package `ext-tasks` never do so before the end. For them, the questions
//! precede the response of the next `tasks/get`.

use std::sync::Arc;

use super::{Action, TaskRequest, related};
use crate::tasks::LiveTask;

impl TaskRequest {
    pub(super) fn questions(&self) -> Vec<Vec<u8>> {
        let (Action::Get, Some((session, modes))) = (&self.action, &self.session) else { return Vec::new() };
        let shared = &self.shared;
        let Some(task) = shared.tasks.live(&self.task_id, self.owner.as_deref()) else { return Vec::new() };
        let mut messages = Vec::new();
        for (key, question) in task.questions_of_poll(session) {
            if !modes.includes(question.mode()) {
                continue;
            }
            let Ok(mut request) = shared.requests.open(session, self.owner.clone(), &question) else { continue };
            messages.push(request.message_with_meta(related(&self.task_id)));
            let task: Arc<LiveTask> = Arc::clone(&task);
            tokio::spawn(async move {
                tokio::select! {
                    // After an error of the client, the question stays open until its timeout.
                    Ok(answer) = request.answer() => task.answer(&key, answer),
                    () = task.closed(&key) => {}
                }
            });
        }
        messages
    }
}
