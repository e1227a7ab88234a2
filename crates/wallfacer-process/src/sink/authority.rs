//! Makes TLS configurations with a certificate for any name, signed by a throw-away authority.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};

use super::bounds::MAX_LEAVES;

/// Certificates are good from before anyone's clock to after it.
const YEARS: (i32, i32) = (2020, 2049);

/// What the target is told that TLS will speak. HTTP/2 hides its heads in compression, so it is spoken only with
/// clients that know nothing else.
const PREFERRED: &str = "http/1.1";

#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    #[error("cannot make certificates for the network sink")]
    Certificate(#[from] rcgen::Error),
    #[error("cannot use certificates for the network sink")]
    Tls(#[from] rustls::Error),
}

/// Signs certificates that only the target is told to trust. Made once for a run, shared by all its lives; the key
/// never leaves memory.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
    /// One key for all certificates: making a key costs more than signing with it.
    leaf_key: KeyPair,
    signer: Arc<dyn SigningKey>,
    provider: Arc<CryptoProvider>,
    leaves: Mutex<BTreeMap<String, Arc<CertifiedKey>>>,
}

impl Authority {
    pub fn new() -> Result<Self, AuthorityError> {
        let key = KeyPair::generate()?;
        let mut params = params("Wallfacer throw-away authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let certificate = params.self_signed(&key)?;
        let leaf_key = KeyPair::generate()?;
        let der = PrivateKeyDer::try_from(leaf_key.serialize_der())
            .map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
        Ok(Self {
            issuer: Issuer::new(params, key),
            certificate: certificate.der().clone(),
            pem: certificate.pem(),
            signer: ring::sign::any_ecdsa_type(&der)?,
            leaf_key,
            provider: Arc::new(ring::default_provider()),
            leaves: Mutex::default(),
        })
    }

    /// The certificate of the authority itself, to be trusted by the target.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// For a connection that asked for `name`, or just for an address. `offered` is what the client can speak.
    pub(super) fn config(
        &self,
        name: Option<&str>,
        address: IpAddr,
        offered: &[String],
    ) -> Result<Arc<ServerConfig>, AuthorityError> {
        let leaf = self.leaf(name, address)?;
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(leaf)));
        // Nobody comes back often enough for sessions to be worth keeping.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.alpn_protocols = match offered.first() {
            _ if offered.iter().any(|protocol| protocol == PREFERRED) => vec![PREFERRED.into()],
            Some(first) => vec![first.clone().into()],
            None => Vec::new(),
        };
        Ok(Arc::new(config))
    }

    fn leaf(&self, name: Option<&str>, address: IpAddr) -> Result<Arc<CertifiedKey>, AuthorityError> {
        let key = format!("{} {address}", name.unwrap_or_default());
        if let Some(leaf) = self.leaves().get(&key) {
            return Ok(Arc::clone(leaf));
        }
        let leaf = Arc::new(self.sign(name, address)?);
        let mut leaves = self.leaves();
        if leaves.len() < MAX_LEAVES {
            leaves.insert(key, Arc::clone(&leaf));
        }
        Ok(leaf)
    }

    fn sign(&self, name: Option<&str>, address: IpAddr) -> Result<CertifiedKey, AuthorityError> {
        let mut params = params("sink");
        params.subject_alt_names.push(SanType::IpAddress(address));
        if let Some(name) = name {
            params.subject_alt_names.push(SanType::DnsName(name.try_into()?));
        }
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&self.leaf_key, &self.issuer)?;
        let chain = vec![certificate.der().clone(), self.certificate.clone()];
        Ok(CertifiedKey::new(chain, Arc::clone(&self.signer)))
    }

    fn leaves(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<CertifiedKey>>> {
        self.leaves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Authority").finish_non_exhaustive()
    }
}

fn params(subject: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, subject);
    params.not_before = rcgen::date_time_ymd(YEARS.0, 1, 1);
    params.not_after = rcgen::date_time_ymd(YEARS.1, 12, 31);
    params
}
