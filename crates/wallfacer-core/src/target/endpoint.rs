//! Checks the URL and headers of a server that is reached over HTTP, and gives its [`Endpoint`].

use super::token::show_url;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http::uri::Uri;

/// An address, and what is sent along with every request to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Checked: http or https, with a host, without user and password.
    pub url: String,
    /// In the order given; a name may come twice.
    pub headers: Vec<(String, String)>,
    pub kind: EndpointKind,
}

/// Which of the two HTTP transports the server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EndpointKind {
    /// Found out by asking.
    #[default]
    Auto,
    Streamable,
    /// HTTP+SSE of 2024-11-05: a GET stream that names the address to post to.
    LegacySse,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    #[error("`{url}` is not a URL ({reason}); write it as http://HOST:PORT/PATH")]
    NotAUrl { url: String, reason: String },
    #[error("`{url}` is not reached over HTTP; a server's URL begins with http:// or https://")]
    Scheme { url: String },
    #[error("`{name}` cannot be the name of a header; use letters, digits and `-`")]
    HeaderName { name: String },
    #[error(
        "the value of the header `{name}` holds a character that no header may hold, such as a line break"
    )]
    HeaderValue { name: String },
}

impl Endpoint {
    /// Takes user and password out of the URL and makes the `Authorization` header they stand for,
    /// unless one is given.
    pub fn new(
        url: &str,
        headers: Vec<(String, String)>,
        kind: EndpointKind,
    ) -> Result<Endpoint, EndpointError> {
        let (url, user) = split_user(checked(url.trim())?);
        let mut endpoint = Endpoint { url, headers, kind };
        if let (Some(user), false) = (user, endpoint.has_header(AUTHORIZATION.as_str())) {
            let basic = format!("Basic {}", BASE64.encode(percent_decoded(&user)));
            endpoint.headers.push(("Authorization".to_owned(), basic));
        }
        Ok(endpoint)
    }

    fn has_header(&self, wanted: &str) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    }
}

impl EndpointKind {
    pub fn parse(text: &str) -> Option<EndpointKind> {
        match text {
            "auto" => Some(EndpointKind::Auto),
            "streamable-http" => Some(EndpointKind::Streamable),
            "sse" => Some(EndpointKind::LegacySse),
            _ => None,
        }
    }
}

/// A header that may be sent as it is.
pub(super) fn header(name: &str, value: &str) -> Result<(String, String), EndpointError> {
    let (name, value) = (name.trim(), value.trim());
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| EndpointError::HeaderName { name: name.to_owned() })?;
    HeaderValue::from_str(value).map_err(|_| EndpointError::HeaderValue { name: name.to_owned() })?;
    Ok((name.to_owned(), value.to_owned()))
}

fn checked(url: &str) -> Result<&str, EndpointError> {
    let shown = || show_url(url);
    let not_a_url = |reason: String| EndpointError::NotAUrl { url: shown(), reason };
    let Some((scheme, _)) = url.split_once("://") else {
        let reason = "it has no http:// in front".to_owned();
        return Err(EndpointError::NotAUrl { url: show_schemeless(url), reason });
    };
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Err(EndpointError::Scheme { url: shown() });
    }
    let parsed: Uri = url.parse().map_err(|error: http::uri::InvalidUri| not_a_url(error.to_string()))?;
    let authority = parsed.authority().ok_or_else(|| not_a_url("it has no host".to_owned()))?;
    if authority.host().is_empty() {
        return Err(not_a_url("it has no host".to_owned()));
    }
    let after_host = authority.as_str().rsplit_once(']').map_or(authority.as_str(), |(_, rest)| rest);
    if after_host.rsplit('@').next().is_some_and(|host| host.contains(':')) && authority.port_u16().is_none()
    {
        return Err(not_a_url("its port is not a number up to 65535".to_owned()));
    }
    Ok(url)
}

/// A password may stand in what lacks only its beginning.
fn show_schemeless(url: &str) -> String {
    let shown = show_url(&format!("http://{url}"));
    shown.trim_start_matches("http://").to_owned()
}

/// The URL without `user:password@`, and those two as they were written.
fn split_user(url: &str) -> (String, Option<String>) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |length| start + length);
    match url[start..end].rfind('@') {
        Some(at) => {
            (format!("{}{}", &url[..start], &url[start + at + 1..]), Some(url[start..start + at].to_owned()))
        }
        None => (url.to_owned(), None),
    }
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).filter(|_| *first == b'%').and_then(|pair| str::from_utf8(pair).ok());
        (rest, _) = match escaped.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => (&after[2..], decoded.push(byte)),
            None => (after, decoded.push(*first)),
        };
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(url: &str) -> Result<Endpoint, EndpointError> {
        Endpoint::new(url, vec![], EndpointKind::Auto)
    }

    #[test]
    fn addresses_people_use_are_taken_as_they_are() {
        for url in ["http://localhost:8000/mcp", "HTTPS://host", "http://[::1]:80/x?y=z", "http://127.0.0.1/"]
        {
            assert_eq!(new(url).unwrap().url, url);
        }
    }

    #[test]
    fn what_is_no_http_address_is_refused() {
        for url in [
            "",
            "localhost:8000/mcp",
            "ftp://host/",
            "file:///etc",
            "http://",
            "http:///mcp",
            "http://:80/",
            "http://host:port/",
            "http://host:99999/",
            "http://ho st/",
            "http://[::1/",
            "ws://host",
        ] {
            assert!(new(url).is_err(), "{url}");
        }
    }

    #[test]
    fn user_and_password_become_a_header() {
        let endpoint = new("http://ada:p%40ss@host:1/mcp?x=a@b").unwrap();
        assert_eq!(endpoint.url, "http://host:1/mcp?x=a@b");
        assert_eq!(endpoint.headers, [("Authorization".to_owned(), "Basic YWRhOnBAc3M=".to_owned())]);
    }

    #[test]
    fn a_given_authorization_wins_over_user_and_password() {
        let given = vec![("authorization".to_owned(), "Bearer x".to_owned())];
        let endpoint = Endpoint::new("http://ada:x@host/", given.clone(), EndpointKind::Auto).unwrap();
        assert_eq!(endpoint.headers, given);
    }

    #[test]
    fn a_password_is_not_repeated_in_an_error() {
        for url in ["http://ada:hunter2@ho st/", "ada:hunter2@host", "host/mcp?token=hunter2"] {
            let message = new(url).unwrap_err().to_string();
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn a_header_that_would_break_the_request_is_refused() {
        assert!(header("X-Who", "a\r\nX-Other: b").is_err());
        assert!(header("X Who", "a").is_err());
        assert_eq!(header(" X-Who ", " a "), Ok(("X-Who".to_owned(), "a".to_owned())));
    }
}
