//! A server that is reached over HTTP.

/// An address, and what is sent along with every request to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Checked: http or https, with a host.
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
