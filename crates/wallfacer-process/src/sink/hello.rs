//! Reads what a client says in the clear in the first bytes of a TLS connection.

use rustls::server::{Acceptor, ClientHello};

use super::flow::Hello;

/// `None` for what is no whole greeting.
pub(super) fn parse(bytes: &[u8]) -> Option<Hello> {
    let mut acceptor = Acceptor::default();
    acceptor.read_tls(&mut &bytes[..]).ok()?;
    let accepted = acceptor.accept().ok()??;
    Some(Hello::from(&accepted.client_hello()))
}

impl From<&ClientHello<'_>> for Hello {
    fn from(greeting: &ClientHello<'_>) -> Self {
        let protocols = greeting.alpn().into_iter().flatten();
        Self {
            sni: greeting.server_name().map(str::to_owned),
            alpn: protocols.map(|protocol| String::from_utf8_lossy(protocol).into_owned()).collect(),
            distrusts: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::{ClientConfig, ClientConnection, RootCertStore};

    use super::*;
    use crate::sink::hash::hash;

    fn greeting() -> Vec<u8> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let name = "evil.example.com".try_into().unwrap();
        let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_greeting_gives_the_name_and_the_protocols() {
        let hello = parse(&greeting()).unwrap();
        assert_eq!(hello.sni.as_deref(), Some("evil.example.com"));
        assert_eq!(hello.alpn, ["h2", "http/1.1"]);
    }

    #[test]
    fn any_bytes_are_read_without_harm() {
        let good = greeting();
        for length in 0..good.len() {
            assert_eq!(parse(&good[..length]), None);
        }
        let mut understood = 0;
        for round in 0..2000_u64 {
            let mut bytes = good.clone();
            let number = hash(round, b"");
            let at = usize::try_from(number >> 32).unwrap() % bytes.len();
            bytes[at] = number.to_be_bytes()[7];
            understood += u32::from(parse(&bytes).is_some());
        }
        assert!((1..2000).contains(&understood), "{understood}");
    }
}
