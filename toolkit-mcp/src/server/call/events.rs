//! The events of a call: messages, and then the response. A long call may end with the id of a task instead.

use std::future::pending;

use super::event::{CallEvent, CallResponse, Events};
use super::request::Call;
use super::running::RunningCall;
use super::task::{Promotion, run};
use crate::server::tasks::Created;

/// The events of a call. Dropping it cancels the call, unless it has become a task.
pub(in crate::server) struct CallEvents {
    /// `None` after the response.
    call: Option<RunningCall>,
    promotion: Option<Promotion>,
}

impl Call<'static> {
    /// Runs the call without messages while it runs.
    pub(in crate::server) async fn answer(self) -> CallResponse {
        let mut events = CallEvents::new(self, false);
        if let Some(CallEvent::Response(response)) = events.early().await {
            return response;
        }
        loop {
            if let CallEvent::Response(response) = events.next().await {
                return response;
            }
        }
    }

    /// Starts the call. It sends progress notifications if the client has sent a progress token, and requests if the
    /// client can ask its user.
    pub(in crate::server) fn events(self) -> CallEvents {
        let sends_messages = self.sends_messages();
        CallEvents::new(self, sends_messages)
    }
}

impl CallEvents {
    fn new(call: Call<'static>, sends_messages: bool) -> Self {
        let promotion = call.task.as_ref().map(|offer| Promotion::new(offer, &call));
        Self { call: Some(call.start(sends_messages)), promotion }
    }

    /// Turns the call into a task. Returns `None` if the call is about to end.
    fn promote(&mut self, created: Created) -> Option<CallResponse> {
        let mut call = self.call.take()?;
        if !call.leave_for(created.task()) {
            self.call = Some(call);
            return None;
        }
        let task = created.keep();
        let response = call.created(&task);
        tokio::spawn(run(call, task));
        Some(response)
    }
}

impl Events for CallEvents {
    async fn early(&mut self) -> Option<CallEvent> {
        match (&mut self.call, &self.promotion) {
            (Some(call), None) => call.early().await,
            _ => None,
        }
    }

    async fn next(&mut self) -> CallEvent {
        loop {
            let Some(call) = &mut self.call else { return pending().await };
            let Some(promotion) = &mut self.promotion else { return call.next().await };
            let created = tokio::select! {
                biased;
                // A requested task exists before its call starts.
                event = call.next(), if !promotion.is_requested() => return event,
                created = promotion.created() => created,
            };
            let is_requested = promotion.is_requested();
            self.promotion = None;
            match created {
                Ok(created) => {
                    if let Some(response) = self.promote(created) {
                        return CallEvent::Response(response);
                    }
                }
                // The client waits for the result instead.
                Err(_) if !is_requested => {}
                Err(error) => {
                    if let Some(call) = self.call.take() {
                        return CallEvent::Response(call.not_created(&error));
                    }
                }
            }
        }
    }
}
