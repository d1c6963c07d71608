//! What is answered, and to what: five kinds of address, none of which changes anything.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sottovoce_loopback::{Few, Policy, guard};

use super::found::Found;
use super::shelf::Shelf;
use super::{beside, file, list};

/// How long answers that were begun may take once it ends.
const LAST: Duration = Duration::from_secs(2);

/// Answers until somebody ends it; calls `said`, which tells where it is, once it can be ended.
pub(super) fn serve(
    listener: TcpListener,
    shelf: Shelf,
    said: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(4)
        .enable_all()
        .build()
        .context("the program cannot listen")?;
    let served = runtime.block_on(async move {
        listener.set_nonblocking(true).context("`port` cannot be listened on")?;
        let listener = tokio::net::TcpListener::from_std(listener).context("`port` cannot be listened on")?;
        let end = end().context("the program cannot be told to end")?;
        said()?;
        let (over, ended) = tokio::sync::oneshot::channel();
        let served = axum::serve(Few::new(listener), router(Arc::new(shelf))).with_graceful_shutdown(async {
            end.await;
            _ = over.send(());
        });
        tokio::select! {
            result = served.into_future() => result.context("the page has gone"),
            () = async { _ = ended.await; tokio::time::sleep(LAST).await } => Ok(()),
        }
    });
    // Whatever is still read is not waited for.
    runtime.shutdown_background();
    served
}

/// Listens from now on: until somebody presses Ctrl-C, or asks the process to end.
#[cfg(unix)]
fn end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut asked) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! { _ = interrupt.recv() => (), _ = asked.recv() => () }
    })
}

#[cfg(not(unix))]
fn end() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async { _ = tokio::signal::ctrl_c().await })
}

/// Everything that is answered.
pub(super) fn router(shelf: Arc<Shelf>) -> Router {
    Router::new()
        .route("/", get(index))
        .route("/rows", get(rows))
        .route("/compare", get(compare))
        .route("/runs.json", get(json))
        .route("/run/{id}/{file}", get(one))
        // Browsers ask for it unasked.
        .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
        .fallback(nothing)
        .layer(from_fn_with_state(Policy::new(&list::policy()), guard))
        .with_state(shelf)
}

/// Does something that reads files, away from who answers.
async fn read(shelf: Arc<Shelf>, what: impl FnOnce(&Shelf) -> Response + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(move || what(&shelf)).await {
        Ok(response) => response,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn typed(kind: &'static str, body: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

fn page(text: String) -> Response {
    typed("text/html; charset=utf-8", text)
}

async fn index(State(shelf): State<Arc<Shelf>>) -> Response {
    read(shelf, |shelf| page(list::page(&shelf.look()))).await
}

/// The table alone.
async fn rows(State(shelf): State<Arc<Shelf>>) -> Response {
    read(shelf, |shelf| page(list::rows(&shelf.look()))).await
}

async fn json(State(shelf): State<Arc<Shelf>>) -> Response {
    read(shelf, |shelf| match serde_json::to_string(&shelf.look()) {
        Ok(text) => typed("application/json", text),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    })
    .await
}

async fn compare(State(shelf): State<Arc<Shelf>>, RawQuery(query): RawQuery) -> Response {
    let asked = chosen(query.as_deref().unwrap_or_default());
    read(shelf, move |shelf| {
        let all = shelf.look().runs;
        let find = |id: &String| all.iter().find(|run| run.id == *id).cloned();
        let runs: Vec<Found> = asked.iter().filter_map(find).collect();
        let sorry = |why: String| (StatusCode::NOT_FOUND, page(list::sorry(&why))).into_response();
        if runs.len() < asked.len() {
            return sorry("A run that was chosen is not there any more: choose again.".into());
        }
        match (beside::FEWEST..=beside::MOST).contains(&runs.len()) {
            true => page(beside::page(&runs, shelf.root())),
            false => sorry(format!("{} were chosen: choose two to six runs.", runs.len())),
        }
    })
    .await
}

/// Names in a query, each once; there are never more of interest than one too many.
fn chosen(query: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in query.split('&').filter_map(|part| part.strip_prefix("run=")) {
        if !all.iter().any(|known| known == name) && all.len() <= beside::MOST {
            all.push(name.to_owned());
        }
    }
    all
}

/// A file of a run. Both names are looked up among what was found, and never become part of a path otherwise.
async fn one(State(shelf): State<Arc<Shelf>>, Path((id, name)): Path<(String, String)>) -> Response {
    read(shelf, move |shelf| {
        let all = shelf.look().runs;
        let there = all.iter().find(|run| run.id == id).filter(|run| run.has(&name));
        let Some(run) = there else {
            return (StatusCode::NOT_FOUND, "there is no such run, or no such file of it\n").into_response();
        };
        let (kind, policy) = file::kind(&name);
        let read = file::read(shelf.root(), &shelf.root().join(&run.path).join(&name), file::MOST);
        match read.and_then(|bytes| file::still(&name, bytes)) {
            Ok(bytes) => (
                [
                    (header::CONTENT_TYPE, kind),
                    (header::CONTENT_SECURITY_POLICY, policy.as_str()),
                    (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
                ],
                bytes,
            )
                .into_response(),
            Err(why) => {
                let folder = shelf.folder().join(&run.path);
                let why = format!("{} cannot be shown: {why}\n", folder.join(&name).display());
                (StatusCode::UNPROCESSABLE_ENTITY, why).into_response()
            }
        }
    })
    .await
}

async fn nothing() -> Response {
    (StatusCode::NOT_FOUND, "there is nothing here: / lists the runs\n").into_response()
}
