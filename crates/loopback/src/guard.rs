//! What every request passes, and what every answer says: only GET, only under a name of this machine, and nothing that could be kept or put into a frame.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What a page may load and run, as its security policy says it. What is no header allows nothing.
#[derive(Debug, Clone)]
pub struct Policy(HeaderValue);

impl Policy {
    /// A policy in the words of the standard.
    pub fn new(policy: &str) -> Self {
        Self(HeaderValue::from_str(policy).unwrap_or(HeaderValue::from_static("default-src 'none'; sandbox")))
    }
}

/// Refuses what is not a question to this machine. An answer that has a policy of its own keeps it, and says itself who may frame it.
pub async fn guard(State(Policy(policy)): State<Policy>, request: Request, next: Next) -> Response {
    let mut response = match refusal(&request) {
        Some((code, why)) => (code, why).into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    for (name, value) in [
        (header::ALLOW, "GET"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

fn refusal(request: &Request) -> Option<(StatusCode, &'static str)> {
    if request.method() != Method::GET {
        return Some((StatusCode::METHOD_NOT_ALLOWED, "there is nothing to change here: only GET\n"));
    }
    let mut named = request.headers().get_all(header::HOST).iter();
    let host = named.next().and_then(|host| host.to_str().ok());
    let target = request.uri().authority().is_none_or(|named| is_local(named.as_str()));
    match host {
        Some(host) if is_local(host) && target && named.next().is_none() => None,
        _ => Some((
            StatusCode::MISDIRECTED_REQUEST,
            "this page is asked for as localhost, 127.0.0.1 or [::1], and under no other name\n",
        )),
    }
}

/// Whether a name, with a port or without, can only be this machine. Names that somebody else could let point here are not among them.
fn is_local(host: &str) -> bool {
    let (name, rest) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((name, rest)) => {
            return name.parse().is_ok_and(|at: Ipv6Addr| at.is_loopback()) && is_port(rest);
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let known = name.eq_ignore_ascii_case("localhost")
        || name.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback());
    known && is_port(rest)
}

/// Nothing, or a colon and a port.
fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| {
            port.bytes().all(|digit| digit.is_ascii_digit()) && port.parse::<u16>().is_ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for good in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.8.8.8", "[::1]", "[::1]:8080"] {
            assert!(is_local(good), "{good}");
        }
        for bad in [
            "",
            ":8080",
            "localhost.example.org",
            "example.org:8080",
            "localhost:",
            "localhost:+80",
            "localhost:99999",
            "localhost:80:80",
            "user@localhost",
            "10.0.0.1",
            "0.0.0.0",
            "127.1",
            "2130706433",
            "[::]",
            "[::1",
            "[::1]x",
            "[::ffff:10.0.0.1]",
            "::1",
        ] {
            assert!(!is_local(bad), "{bad}");
        }
    }
}
