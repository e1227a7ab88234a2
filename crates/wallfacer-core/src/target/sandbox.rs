//! What the user asks of the sandbox: how strict it is, what stays visible, which network there is.

use std::fmt;
use std::path::PathBuf;

/// What holds for a server that nobody says anything of.
const UNSAID: Confine = Confine::Auto;

/// How a server that we start is to be confined and watched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    pub confine: Confine,
    pub net: Net,
    /// What must be had, or the server is not tested.
    pub required: Required,
    /// What of the real home, or of another hidden place, the server sees all the same.
    pub keep: Vec<PathBuf>,
    /// How far a file of the project opens it, with the name of the file: its author is not always its user.
    pub opened: Option<String>,
}

/// The same as it may be written: what is None was not said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxWishes {
    pub confine: Option<Confine>,
    pub net: Option<Net>,
    pub required: Required,
    /// As it was written: `~` is the home directory.
    pub keep: Vec<PathBuf>,
}

impl SandboxWishes {
    /// What is meant, where these come before others.
    pub(super) fn over(self, others: Self) -> Sandbox {
        Sandbox {
            confine: self.confine.or(others.confine).unwrap_or(UNSAID),
            net: self.net.or(others.net).unwrap_or_default(),
            required: self.required.or(others.required),
            keep: [self.keep, others.keep].concat(),
            opened: None,
        }
    }

    /// How these open the sandbox beyond what others do who come before them, in words.
    pub(super) fn beyond(&self, others: &Self) -> Vec<String> {
        let confine = others.confine.or(self.confine);
        if confine == Some(Confine::Off) {
            return others.confine.is_none().then(|| "off".to_owned()).into_iter().collect();
        }
        let net = self.net.iter().filter(|net| others.net.is_none() && !net.is_closed());
        let kept = self.keep.iter().filter(|path| !others.keep.contains(path));
        net.map(|net| format!("network {net}"))
            .chain(kept.map(|path| format!("keeps {}", path.display())))
            .collect()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confine {
    /// As far as the machine allows and the server works with it.
    Auto,
    /// Or not at all.
    Require,
    /// The server has all the rights of the user.
    #[default]
    Off,
}

/// What a confined server finds when it reaches for the network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Net {
    /// Everything answers, and nothing leaves the machine.
    #[default]
    Sink,
    /// Loopback and nothing else.
    Deny,
    /// The real network.
    Host,
    /// The sink, and behind it these parts of the real network.
    Allow(Vec<Upstream>),
}

/// A host, by name or address, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub host: String,
    pub port: u16,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Required {
    /// Every call into the system is seen.
    pub observe: bool,
    /// Nothing that the server does leaves its world.
    pub confine: bool,
}

impl Confine {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "require" => Some(Self::Require),
            "off" => Some(Self::Off),
            _ => None,
        }
    }
}

impl Net {
    /// `sink`, `deny`, `host`, or `allow=HOST:PORT,…`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "sink" => Some(Self::Sink),
            "deny" => Some(Self::Deny),
            "host" => Some(Self::Host),
            _ => {
                let list = text.strip_prefix("allow=")?;
                list.split(',').map(Upstream::parse).collect::<Option<Vec<_>>>().map(Self::Allow)
            }
        }
    }

    /// Whether what is sent stays on this machine.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Sink | Self::Deny)
    }
}

impl fmt::Display for Net {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sink => formatter.write_str("a sink"),
            Self::Deny => formatter.write_str("none"),
            Self::Host => formatter.write_str("the machine's own"),
            Self::Allow(list) => {
                let named: Vec<String> = list.iter().map(|to| format!("{}:{}", to.host, to.port)).collect();
                write!(formatter, "a sink, and {}", named.join(", "))
            }
        }
    }
}

impl Upstream {
    /// `HOST:PORT`; an IPv6 address stands in brackets.
    fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.trim().rsplit_once(':')?;
        let host = match host.strip_prefix('[') {
            Some(inside) => inside.strip_suffix(']')?,
            None if host.contains(':') => return None,
            None => host,
        };
        let port = port.parse().ok().filter(|port| *port != 0)?;
        (!host.is_empty()).then(|| Self { host: host.to_owned(), port })
    }
}

impl Required {
    /// `observe`, `confine`, or both with a comma between them.
    pub fn parse(text: &str) -> Option<Self> {
        text.split(',').try_fold(Self::default(), |required, word| match word.trim() {
            "observe" => Some(Self { observe: true, ..required }),
            "confine" => Some(Self { confine: true, ..required }),
            _ => None,
        })
    }

    /// What either of them asks for.
    pub fn or(self, other: Self) -> Self {
        Self { observe: self.observe || other.observe, confine: self.confine || other.confine }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(host: &str, port: u16) -> Upstream {
        Upstream { host: host.to_owned(), port }
    }

    #[test]
    fn allowed_parts_of_the_network_are_read_by_name_and_by_address() {
        let wanted = vec![upstream("db.internal", 5432), upstream("::1", 80), upstream("127.0.0.1", 6379)];
        assert_eq!(Net::parse("allow=db.internal:5432,[::1]:80, 127.0.0.1:6379"), Some(Net::Allow(wanted)));
    }

    #[test]
    fn what_names_no_port_or_no_host_is_refused() {
        for text in
            ["allow=", "allow=host", "allow=:80", "allow=host:0", "allow=::1:80", "allow=[::1:80", "open"]
        {
            assert_eq!(Net::parse(text), None, "{text}");
        }
    }

    #[test]
    fn requirements_add_up() {
        let both = Required { observe: true, confine: true };
        assert_eq!(Required::parse("observe,confine"), Some(both));
        assert_eq!(Required::parse("observe").unwrap().or(Required::parse("confine").unwrap()), both);
        assert_eq!(Required::parse("all"), None);
    }
}
