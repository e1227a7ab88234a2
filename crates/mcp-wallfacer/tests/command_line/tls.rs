//! Puts TLS in front of a plain server on loopback, and gives the certificate that it shows.

use std::sync::{Arc, mpsc};
use std::thread;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

pub struct TlsProxy {
    pub port: u16,
    /// In PEM, as `SSL_CERT_FILE` wants it.
    pub certificate: String,
}

/// Serves `localhost` until the test ends.
pub fn tls_proxy(to: u16) -> TlsProxy {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let (told, port) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(serve(TlsAcceptor::from(Arc::new(config)), to, told));
    });
    TlsProxy { port: port.recv().unwrap(), certificate: cert.pem() }
}

async fn serve(acceptor: TlsAcceptor, to: u16, told: mpsc::Sender<u16>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    told.send(listener.local_addr().unwrap().port()).unwrap();
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A client that turns away from our certificate is what some tests want.
            let Ok(mut secure) = acceptor.accept(stream).await else { return };
            let Ok(mut plain) = TcpStream::connect(("127.0.0.1", to)).await else { return };
            let _either_side_ends_it = tokio::io::copy_bidirectional(&mut secure, &mut plain).await;
        });
    }
}
