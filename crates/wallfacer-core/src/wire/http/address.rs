//! Splits a URL into the parts that a connection needs.

use base64::Engine as _;
use http::Uri;

/// Where to connect, and what to ask for there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub tls: bool,
    pub host: String,
    pub port: u16,
    /// `host[:port]` as written, for the `Host` header.
    pub authority: String,
    /// Path and query.
    pub path: String,
    /// `Authorization` made of a user name in the URL.
    pub authorization: Option<String>,
}

/// The text is no address that we can reach.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{url}` is no http or https URL; write it like http://localhost:8000/mcp")]
pub struct BadUrl {
    pub url: String,
}

impl Address {
    pub fn parse(url: &str) -> Result<Address, BadUrl> {
        let bad = || BadUrl { url: url.to_owned() };
        let uri: Uri = url.parse().map_err(|_| bad())?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(bad()),
        };
        let authority = uri.authority().ok_or_else(bad)?;
        let (user, shown) = match authority.as_str().rsplit_once('@') {
            Some((user, shown)) => (Some(user), shown),
            None => (None, authority.as_str()),
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(bad());
        }
        Ok(Address {
            tls,
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            authority: shown.to_owned(),
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            authorization: user.map(basic),
        })
    }

    /// The same server, another path: what the `endpoint` event of the old transport names.
    /// An address on another server is refused, for a server must not send us elsewhere.
    pub fn join(&self, reference: &str) -> Result<Address, BadUrl> {
        let bad = || BadUrl { url: reference.to_owned() };
        if reference.contains("://") {
            let other = Address::parse(reference)?;
            let same = (other.tls, &other.host, other.port) == (self.tls, &self.host, self.port);
            return same
                .then(|| Address { authorization: self.authorization.clone(), ..other })
                .ok_or_else(bad);
        }
        let path = match reference.as_bytes().first() {
            Some(b'/') if !reference.starts_with("//") => reference.to_owned(),
            Some(b'?') => format!("{}{reference}", self.directory_and_file()),
            Some(byte) if *byte != b'/' => {
                let base = self.directory_and_file();
                format!("{}/{reference}", base.rsplit_once('/').map_or("", |(directory, _)| directory))
            }
            _ => return Err(bad()),
        };
        path.parse::<Uri>().map_err(|_| bad())?;
        Ok(Address { path, ..self.clone() })
    }

    fn directory_and_file(&self) -> &str {
        self.path.split('?').next().unwrap_or("/")
    }
}

fn basic(user: &str) -> String {
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(user))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_paths_default_as_in_a_browser() {
        let plain = Address::parse("http://localhost").unwrap();
        assert_eq!((plain.port, plain.path.as_str(), plain.tls), (80, "/", false));
        let secure = Address::parse("https://example.com:8443/mcp?x=1").unwrap();
        assert_eq!((secure.port, secure.path.as_str(), secure.tls), (8443, "/mcp?x=1", true));
        let six = Address::parse("http://[::1]:9/").unwrap();
        assert_eq!((six.host.as_str(), six.authority.as_str()), ("::1", "[::1]:9"));
    }

    #[test]
    fn a_user_name_becomes_a_header_and_leaves_the_host() {
        let address = Address::parse("http://ada:pw@host/").unwrap();
        assert_eq!(address.authority, "host");
        assert_eq!(address.authorization.as_deref(), Some("Basic YWRhOnB3"));
    }

    #[test]
    fn what_is_no_http_address_is_refused() {
        for url in ["", "localhost:8000", "ftp://x/", "http://", "/mcp", "http://a b/"] {
            assert!(Address::parse(url).is_err(), "{url:?}");
        }
    }

    #[test]
    fn an_endpoint_is_joined_on_the_same_server_only() {
        let base = Address::parse("http://h:1/app/sse?k=v").unwrap();
        assert_eq!(base.join("/messages?s=1").unwrap().path, "/messages?s=1");
        assert_eq!(base.join("messages").unwrap().path, "/app/messages");
        assert_eq!(base.join("?s=2").unwrap().path, "/app/sse?s=2");
        assert_eq!(base.join("http://h:1/m").unwrap().path, "/m");
        for other in ["http://evil:1/m", "//evil/m", "https://h:1/m", ""] {
            assert!(base.join(other).is_err(), "{other:?}");
        }
    }
}
