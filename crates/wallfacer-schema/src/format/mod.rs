//! The known values of `format`: each [`Format`] makes strings of its form, tells whether a string has it, and knows
//! strings that just miss it.

mod address;
mod content;
mod moment;
mod reference;
mod text;

use crate::{choices::Choices, document::draft::Draft, pattern};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    DateTime,
    Date,
    Time,
    Duration,
    Email,
    IdnEmail,
    Hostname,
    IdnHostname,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    Iri,
    IriReference,
    Uuid,
    UriTemplate,
    JsonPointer,
    RelativeJsonPointer,
    Regex,
    /// By `contentMediaType` and `contentEncoding`.
    Json,
    Base64,
    Base64Json,
}

/// A known format, and whether the draft at hand knows it too: if not, it is only a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub kind: Kind,
    pub asserted: bool,
}

/// Name, kind, and the draft that brought it in.
const FORMATS: &[(&str, Kind, Draft)] = &[
    ("date-time", Kind::DateTime, Draft::Four),
    ("date", Kind::Date, Draft::Seven),
    ("time", Kind::Time, Draft::Seven),
    ("duration", Kind::Duration, Draft::Nineteen),
    ("email", Kind::Email, Draft::Four),
    ("idn-email", Kind::IdnEmail, Draft::Seven),
    ("hostname", Kind::Hostname, Draft::Four),
    ("idn-hostname", Kind::IdnHostname, Draft::Seven),
    ("ipv4", Kind::Ipv4, Draft::Four),
    ("ipv6", Kind::Ipv6, Draft::Four),
    ("uri", Kind::Uri, Draft::Four),
    ("uri-reference", Kind::UriReference, Draft::Six),
    ("iri", Kind::Iri, Draft::Seven),
    ("iri-reference", Kind::IriReference, Draft::Seven),
    ("uuid", Kind::Uuid, Draft::Nineteen),
    ("uri-template", Kind::UriTemplate, Draft::Six),
    ("json-pointer", Kind::JsonPointer, Draft::Six),
    ("relative-json-pointer", Kind::RelativeJsonPointer, Draft::Seven),
    ("regex", Kind::Regex, Draft::Seven),
];

impl Format {
    pub(crate) fn of_name(name: &str, draft: Draft) -> Option<Format> {
        let known = FORMATS.iter().find(|(known, _, _)| *known == name);
        match known {
            Some(&(_, kind, since)) => Some(Format { kind, asserted: draft >= since }),
            None if name == "url" => Some(Format { kind: Kind::Uri, asserted: false }),
            None if name == "ip" => Some(Format { kind: Kind::Ipv4, asserted: false }),
            None => None,
        }
    }

    /// Draft 7 lets encoded content be asserted; later drafts make it a mere annotation.
    pub(crate) fn of_content(media: Option<&str>, encoding: Option<&str>, draft: Draft) -> Option<Format> {
        let json = media == Some("application/json");
        let kind = match (json, encoding) {
            (true, None) => Kind::Json,
            (true, Some("base64")) => Kind::Base64Json,
            (false, Some("base64")) => Kind::Base64,
            _ => return None,
        };
        Some(Format { kind, asserted: draft == Draft::Seven })
    }

    pub(crate) fn name(self) -> &'static str {
        match self.kind {
            Kind::Json => return "JSON text",
            Kind::Base64 => return "base64 text",
            Kind::Base64Json => return "JSON text in base64",
            _ => {}
        }
        FORMATS.iter().find(|(_, kind, _)| *kind == self.kind).map_or("", |(name, _, _)| name)
    }

    pub(crate) fn fits(self, string: &str) -> bool {
        match self.kind {
            Kind::DateTime => moment::is_date_time(string),
            Kind::Date => moment::is_date(string),
            Kind::Time => moment::is_time(string),
            Kind::Duration => moment::is_duration(string),
            Kind::Email => address::is_email(string, false),
            Kind::IdnEmail => address::is_email(string, true),
            Kind::Hostname => address::is_hostname(string),
            Kind::IdnHostname => address::is_idn_hostname(string),
            Kind::Ipv4 => string.parse::<std::net::Ipv4Addr>().is_ok(),
            Kind::Ipv6 => string.parse::<std::net::Ipv6Addr>().is_ok(),
            Kind::Uri => reference::is_uri(string, false),
            Kind::UriReference => reference::is_reference(string, false),
            Kind::Iri => reference::is_uri(string, true),
            Kind::IriReference => reference::is_reference(string, true),
            Kind::Uuid => text::is_uuid(string),
            Kind::UriTemplate => text::is_uri_template(string),
            Kind::JsonPointer => text::is_json_pointer(string),
            Kind::RelativeJsonPointer => text::is_relative_json_pointer(string),
            Kind::Regex => pattern::is_regex(string),
            Kind::Json => content::is_json(string.as_bytes()),
            Kind::Base64 => content::decode(string).is_some(),
            Kind::Base64Json => content::decode(string).is_some_and(|bytes| content::is_json(&bytes)),
        }
    }

    pub(crate) fn make(self, choices: &mut Choices) -> String {
        match self.kind {
            Kind::DateTime => moment::date_time(choices),
            Kind::Date => moment::date(choices),
            Kind::Time => moment::time(choices),
            Kind::Duration => moment::duration(choices),
            Kind::Email | Kind::IdnEmail => address::email(choices, self.kind == Kind::IdnEmail),
            Kind::Hostname | Kind::IdnHostname => address::hostname(choices, self.kind == Kind::IdnHostname),
            Kind::Ipv4 => address::ipv4(choices),
            Kind::Ipv6 => address::ipv6(choices),
            Kind::Uri | Kind::Iri => reference::uri(choices, self.kind == Kind::Iri),
            Kind::UriReference | Kind::IriReference => {
                reference::reference(choices, self.kind == Kind::IriReference)
            }
            Kind::Uuid => text::uuid(choices),
            Kind::UriTemplate => text::uri_template(choices),
            Kind::JsonPointer => text::json_pointer(choices),
            Kind::RelativeJsonPointer => text::relative_json_pointer(choices),
            Kind::Regex => text::regex(choices),
            Kind::Json => content::json(choices),
            Kind::Base64 | Kind::Base64Json => content::encode(content::json(choices).as_bytes()),
        }
    }

    /// Rightly formed strings at the rim of the format.
    pub(crate) fn edges(self) -> &'static [&'static str] {
        match self.kind {
            Kind::DateTime => {
                &["2024-02-29T23:59:59Z", "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999-23:59"]
            }
            Kind::Date => &["2024-02-29", "0001-01-01", "9999-12-31"],
            Kind::Time => &["00:00:00Z", "23:59:59.999999+23:59"],
            Kind::Duration => &["P0D", "P1Y2M3DT4H5M6S", "P99999W"],
            Kind::Email => &["a@b.example", "first.last+tag@sub.example.com"],
            Kind::IdnEmail => &["a@b.example", "δοκιμή@example.com"],
            Kind::Hostname => &["a", "xn--4gbwdl.xn--wgbh1c", "localhost"],
            Kind::IdnHostname => &["a", "例え.example"],
            Kind::Ipv4 => &["0.0.0.0", "255.255.255.255", "127.0.0.1"],
            Kind::Ipv6 => &["::", "::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:127.0.0.1"],
            Kind::Uri => &["http://a", "urn:a:b", "file:///", "https://u@[::1]:65535/p?q=1#f"],
            Kind::Iri => &["http://a", "https://例え.example/ü"],
            Kind::UriReference => &["", "/", "?q", "#f", "../a"],
            Kind::IriReference => &["", "/ü", "#f"],
            Kind::Uuid => &["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
            Kind::UriTemplate => &["", "/{a}", "{?a,b*}"],
            Kind::JsonPointer => &["", "/", "/a~0b~1c"],
            Kind::RelativeJsonPointer => &["0", "0#", "1/a"],
            Kind::Regex => &["", "^$", "(a|b)*"],
            Kind::Json => &["null", "{}"],
            Kind::Base64 => &["", "AA==", "/+8="],
            Kind::Base64Json => &["e30=", "bnVsbA=="],
        }
    }

    /// Strings that just miss the format.
    pub(crate) fn misses(self) -> &'static [&'static str] {
        match self.kind {
            Kind::DateTime => {
                &["2023-02-29T00:00:00Z", "2024-01-01 00:00:00", "2024-01-01T24:00:00Z", "not a date"]
            }
            Kind::Date => &["2023-02-29", "2024-13-01", "24-01-01", "2024-1-1"],
            Kind::Time => &["24:00:00Z", "12:00:00", "12:60:00Z"],
            Kind::Duration => &["P", "PT", "1D", "P1"],
            Kind::Email | Kind::IdnEmail => &["plain", "@example.com", "a@", "a b@example.com"],
            Kind::Hostname | Kind::IdnHostname => &["-a.example", "a..b", "a_b", ""],
            Kind::Ipv4 => &["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4"],
            Kind::Ipv6 => &["12345::", "1::2::3", "::g", "1:2:3:4:5:6:7:8:9"],
            Kind::Uri | Kind::Iri => &["//no.scheme/a", "no scheme", "http://a b", "http:// a"],
            Kind::UriReference | Kind::IriReference => &["\\\\host\\share", "a b", "%zz"],
            Kind::Uuid => {
                &["00000000-0000-0000-0000-00000000000", "not-a-uuid", "0000000g-0000-0000-0000-000000000000"]
            }
            Kind::UriTemplate => &["{", "/a{b", "}"],
            Kind::JsonPointer => &["a", "/~2", "#"],
            Kind::RelativeJsonPointer => &["/a", "01", "-1", "+1"],
            Kind::Regex => &["(", "[", "*"],
            Kind::Json => &["", "{", "nul"],
            Kind::Base64 | Kind::Base64Json => &["=", "%%%%", "e30"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Format> {
        let named = FORMATS.iter().map(|&(_, kind, _)| kind);
        named.chain([Kind::Json, Kind::Base64, Kind::Base64Json]).map(|kind| Format { kind, asserted: true })
    }

    #[test]
    fn what_a_format_makes_fits_it() {
        for format in all() {
            let mut choices = Choices::seeded(3);
            for _ in 0..500 {
                let made = format.make(&mut choices);
                assert!(format.fits(&made), "{}: {made:?}", format.name());
            }
        }
    }

    #[test]
    fn edges_fit_and_misses_do_not() {
        for format in all() {
            format.edges().iter().for_each(|edge| assert!(format.fits(edge), "{}: {edge:?}", format.name()));
            format
                .misses()
                .iter()
                .for_each(|miss| assert!(!format.fits(miss), "{}: {miss:?}", format.name()));
        }
    }
}
