//! Questions of a call that may become a task.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::dispatch::BoxFuture;

use crate::server::ask::{Modes, OpenQuestions, Rounds};
use crate::server::call::offer::{TaskOffer, TaskSlot};
use crate::server::call::permit::PermitSlot;
use crate::server::state::Shared;

/// Asks the user of a call that may become a task: before, in rounds, and later through the task.
pub(in crate::server::call) struct TaskAsker {
    shared: Arc<Shared>,
    /// The id of the tool.
    tool: String,
    slot: TaskSlot,
    rounds: Option<Rounds>,
    modes: Modes,
    permit: PermitSlot,
    questions: OpenQuestions,
}

impl TaskAsker {
    pub(in crate::server::call) fn new(
        offer: &TaskOffer,
        rounds: Option<Rounds>,
        shared: &Arc<Shared>,
        tool: &str,
        permit: PermitSlot,
    ) -> Self {
        let (slot, modes) = (Arc::clone(offer.slot()), offer.modes);
        let questions = shared.waiting.of_call(&offer.caller);
        Self { shared: Arc::clone(shared), tool: tool.to_owned(), slot, rounds, modes, permit, questions }
    }

    async fn question(&self, question: &Question) -> Result<Answer, ToolError> {
        if let Some(rounds) = &self.rounds
            && let Some(answer) = rounds.ask_in_round(question).await
        {
            return answer;
        }
        let task = self.slot.wait().await;
        let _open = self.questions.open()?;
        let mut open = task.ask(question.clone())?;
        let limit = self.shared.ask_timeout;
        let answer = async {
            timeout(limit, open.answer()).await.unwrap_or_else(|_| {
                Err(ToolError::new(ErrorKind::TimedOut, format!("the user did not answer within {limit:?}")))
            })
        };
        // The answer must not be in vain.
        let patience = task.deadline().map_or(Duration::MAX, |deadline| deadline.duration_since(Instant::now()));
        self.permit.without(&self.shared.calls, &self.tool, patience, answer).await
    }
}

impl Asker for TaskAsker {
    fn can_ask(&self, mode: Mode) -> bool {
        self.modes.includes(mode)
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.question(question))
    }
}
