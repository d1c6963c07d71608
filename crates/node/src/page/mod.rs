//! A page that shows how a peer stands, and its metrics: for this machine only, from [`Board::status`] alone. Never a value, a noise or a gradient.
//!
//! ```text
//!   Board ──► Status ──► words ──► GET /              the page, whole without a script
//!                          ├─────► GET /status.json   the same, once a second
//!                          └─────► GET /metrics       counters and gauges; GET /healthz: whether it goes on
//! ```
//!
//! **Who can read it.** It listens on a loopback address, and on no other: whoever has an account on this machine can read it, and nobody else. A request that names another host is
//! refused, so that a web site cannot reach it by a name that it lets point here. Nothing is written: there is only GET.

mod html;
mod metrics;
#[cfg(test)]
mod tests;
mod words;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Serialize;
use sottovoce_loopback::{Few, Policy, guard};

use crate::error::require;
use crate::status::{Board, Phase, Spent, Status};
use crate::{Error, Result};
use html::Drawing;
use words::Words;

/// A page that listens, and is not answered yet.
pub struct Page {
    listener: TcpListener,
    address: SocketAddr,
}

impl Page {
    /// Listens on this machine. Any other address is refused, and nothing is sent.
    pub fn listen(at: SocketAddr) -> Result<Self> {
        let remedy = "the page is for this machine only: give a loopback address, such as 127.0.0.1:8080, and forward the port from where you look; nothing was sent";
        require(at.ip().is_loopback(), "page", at, remedy)?;
        let failed = |cause: std::io::Error| {
            let remedy = format!(
                "it cannot be listened on ({cause}): give another port, or leave it out; nothing was sent"
            );
            Error::parameter("page", at, remedy)
        };
        let listener = TcpListener::bind(at).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers whoever asks, for as long as it runs. What goes wrong here stops no run.
    pub async fn serve(self, board: Arc<Board>) {
        let listener = match tokio::net::TcpListener::from_std(self.listener) {
            Ok(listener) => listener,
            Err(why) => return tracing::warn!("there is no page: {why}"),
        };
        let status = board.status();
        // Where peers lie in the picture takes a moment, and stays the same: the network must not wait for it.
        let Ok(drawing) = tokio::task::spawn_blocking(move || Drawing::of(&status)).await else { return };
        let router = Router::new()
            .route("/", get(index))
            .route("/status.json", get(json))
            .route("/metrics", get(numbers))
            .route("/healthz", get(health))
            .fallback(nothing)
            .layer(from_fn_with_state(Policy::new(&html::policy()), guard))
            .with_state(Shown { board, drawing: Arc::new(drawing) });
        tracing::info!("a page shows how it stands: http://{}", self.address);
        if let Err(why) = axum::serve(Few::new(listener), router).await {
            tracing::warn!("the page has gone: {why}");
        }
    }
}

/// What is shown.
#[derive(Clone)]
struct Shown {
    board: Arc<Board>,
    drawing: Arc<Drawing>,
}

impl Shown {
    /// As it is now, with budgets in the order of peers; coalitions and whoever sees all come after them.
    fn status(&self) -> Status {
        let mut status = self.board.status();
        let place = |one: &Spent| one.peer.unwrap_or(usize::MAX);
        status.budgets.sort_by(|a, b| (&a.label, place(a)).cmp(&(&b.label, place(b))));
        status
    }
}

/// How a peer stands, and the same as the page says it.
#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    status: Status,
    shown: Words,
}

fn typed(kind: &'static str, body: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

async fn index(State(shown): State<Shown>) -> Response {
    let (status, drawing) = (shown.status(), shown.drawing);
    match tokio::task::spawn_blocking(move || html::page(&status, &drawing)).await {
        Ok(page) => typed("text/html; charset=utf-8", page),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn json(State(shown): State<Shown>) -> Response {
    let status = shown.status();
    let shown = Words::of(&status);
    match serde_json::to_string(&Answer { status, shown }) {
        Ok(text) => typed("application/json", text),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn numbers(State(shown): State<Shown>) -> Response {
    match metrics::text(&shown.status()) {
        Ok(text) => typed(metrics::KIND, text),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Whether the run goes on, or went well: the phase as a word.
async fn health(State(shown): State<Shown>) -> Response {
    let phase = shown.board.status().phase;
    let code = if phase == Phase::Halted { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    (code, format!("{}\n", words::phase(phase))).into_response()
}

async fn nothing() -> Response {
    (StatusCode::NOT_FOUND, "there is nothing here: /, /status.json, /metrics and /healthz\n").into_response()
}
