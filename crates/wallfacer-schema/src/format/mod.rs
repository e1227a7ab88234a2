//! The known values of `format`: each [`Format`] makes strings of its form, tells whether a string has it, and knows
//! strings that just miss it.

mod address;
mod content;
mod moment;
mod reference;
mod text;

use crate::{choices::Choices, document::draft::Draft, pattern};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FormatKind {
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
    pub kind: FormatKind,
    pub asserted: bool,
}

/// Name, kind, and the draft that brought it in.
const FORMATS: &[(&str, FormatKind, Draft)] = &[
    ("date-time", FormatKind::DateTime, Draft::Four),
    ("date", FormatKind::Date, Draft::Seven),
    ("time", FormatKind::Time, Draft::Seven),
    ("duration", FormatKind::Duration, Draft::Nineteen),
    ("email", FormatKind::Email, Draft::Four),
    ("idn-email", FormatKind::IdnEmail, Draft::Seven),
    ("hostname", FormatKind::Hostname, Draft::Four),
    ("idn-hostname", FormatKind::IdnHostname, Draft::Seven),
    ("ipv4", FormatKind::Ipv4, Draft::Four),
    ("ipv6", FormatKind::Ipv6, Draft::Four),
    ("uri", FormatKind::Uri, Draft::Four),
    ("uri-reference", FormatKind::UriReference, Draft::Six),
    ("iri", FormatKind::Iri, Draft::Seven),
    ("iri-reference", FormatKind::IriReference, Draft::Seven),
    ("uuid", FormatKind::Uuid, Draft::Nineteen),
    ("uri-template", FormatKind::UriTemplate, Draft::Six),
    ("json-pointer", FormatKind::JsonPointer, Draft::Six),
    ("relative-json-pointer", FormatKind::RelativeJsonPointer, Draft::Seven),
    ("regex", FormatKind::Regex, Draft::Seven),
];

impl Format {
    pub(crate) fn of_name(name: &str, draft: Draft) -> Option<Format> {
        let known = FORMATS.iter().find(|(known, _, _)| *known == name);
        match known {
            Some(&(_, kind, since)) => Some(Format { kind, asserted: draft >= since }),
            None if name == "url" => Some(Format { kind: FormatKind::Uri, asserted: false }),
            None if name == "ip" => Some(Format { kind: FormatKind::Ipv4, asserted: false }),
            None => None,
        }
    }

    /// Draft 7 lets encoded content be asserted; later drafts make it a mere annotation.
    pub(crate) fn of_content(media: Option<&str>, encoding: Option<&str>, draft: Draft) -> Option<Format> {
        let json = media == Some("application/json");
        let kind = match (json, encoding) {
            (true, None) => FormatKind::Json,
            (true, Some("base64")) => FormatKind::Base64Json,
            (false, Some("base64")) => FormatKind::Base64,
            _ => return None,
        };
        Some(Format { kind, asserted: draft == Draft::Seven })
    }

    pub(crate) fn name(self) -> &'static str {
        match self.kind {
            FormatKind::Json => return "JSON text",
            FormatKind::Base64 => return "base64 text",
            FormatKind::Base64Json => return "JSON text in base64",
            _ => {}
        }
        FORMATS.iter().find(|(_, kind, _)| *kind == self.kind).map_or("", |(name, _, _)| name)
    }

    pub(crate) fn fits(self, string: &str) -> bool {
        match self.kind {
            FormatKind::DateTime => moment::is_date_time(string),
            FormatKind::Date => moment::is_date(string),
            FormatKind::Time => moment::is_time(string),
            FormatKind::Duration => moment::is_duration(string),
            FormatKind::Email => address::is_email(string, false),
            FormatKind::IdnEmail => address::is_email(string, true),
            FormatKind::Hostname => address::is_hostname(string),
            FormatKind::IdnHostname => address::is_idn_hostname(string),
            FormatKind::Ipv4 => string.parse::<std::net::Ipv4Addr>().is_ok(),
            FormatKind::Ipv6 => string.parse::<std::net::Ipv6Addr>().is_ok(),
            FormatKind::Uri => reference::is_uri(string, false),
            FormatKind::UriReference => reference::is_reference(string, false),
            FormatKind::Iri => reference::is_uri(string, true),
            FormatKind::IriReference => reference::is_reference(string, true),
            FormatKind::Uuid => text::is_uuid(string),
            FormatKind::UriTemplate => text::is_uri_template(string),
            FormatKind::JsonPointer => text::is_json_pointer(string),
            FormatKind::RelativeJsonPointer => text::is_relative_json_pointer(string),
            FormatKind::Regex => pattern::is_regex(string),
            FormatKind::Json => content::is_json(string.as_bytes()),
            FormatKind::Base64 => content::decode(string).is_some(),
            FormatKind::Base64Json => content::decode(string).is_some_and(|bytes| content::is_json(&bytes)),
        }
    }

    pub(crate) fn make(self, choices: &mut Choices) -> String {
        match self.kind {
            FormatKind::DateTime => moment::date_time(choices),
            FormatKind::Date => moment::date(choices),
            FormatKind::Time => moment::time(choices),
            FormatKind::Duration => moment::duration(choices),
            FormatKind::Email | FormatKind::IdnEmail => {
                address::email(choices, self.kind == FormatKind::IdnEmail)
            }
            FormatKind::Hostname | FormatKind::IdnHostname => {
                address::hostname(choices, self.kind == FormatKind::IdnHostname)
            }
            FormatKind::Ipv4 => address::ipv4(choices),
            FormatKind::Ipv6 => address::ipv6(choices),
            FormatKind::Uri | FormatKind::Iri => reference::uri(choices, self.kind == FormatKind::Iri),
            FormatKind::UriReference | FormatKind::IriReference => {
                reference::reference(choices, self.kind == FormatKind::IriReference)
            }
            FormatKind::Uuid => text::uuid(choices),
            FormatKind::UriTemplate => text::uri_template(choices),
            FormatKind::JsonPointer => text::json_pointer(choices),
            FormatKind::RelativeJsonPointer => text::relative_json_pointer(choices),
            FormatKind::Regex => text::regex(choices),
            FormatKind::Json => content::json(choices),
            FormatKind::Base64 | FormatKind::Base64Json => content::encode(content::json(choices).as_bytes()),
        }
    }

    /// Rightly formed strings at the rim of the format.
    pub(crate) fn edges(self) -> &'static [&'static str] {
        match self.kind {
            FormatKind::DateTime => {
                &["2024-02-29T23:59:59Z", "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999-23:59"]
            }
            FormatKind::Date => &["2024-02-29", "0001-01-01", "9999-12-31"],
            FormatKind::Time => &["00:00:00Z", "23:59:59.999999+23:59"],
            FormatKind::Duration => &["P0D", "P1Y2M3DT4H5M6S", "P99999W"],
            FormatKind::Email => &["a@b.example", "first.last+tag@sub.example.com"],
            FormatKind::IdnEmail => &["a@b.example", "δοκιμή@example.com"],
            FormatKind::Hostname => &["a", "xn--4gbwdl.xn--wgbh1c", "localhost"],
            FormatKind::IdnHostname => &["a", "例え.example"],
            FormatKind::Ipv4 => &["0.0.0.0", "255.255.255.255", "127.0.0.1"],
            FormatKind::Ipv6 => &["::", "::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:127.0.0.1"],
            FormatKind::Uri => &["http://a", "urn:a:b", "file:///", "https://u@[::1]:65535/p?q=1#f"],
            FormatKind::Iri => &["http://a", "https://例え.example/ü"],
            FormatKind::UriReference => &["", "/", "?q", "#f", "../a"],
            FormatKind::IriReference => &["", "/ü", "#f"],
            FormatKind::Uuid => {
                &["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
            }
            FormatKind::UriTemplate => &["", "/{a}", "{?a,b*}"],
            FormatKind::JsonPointer => &["", "/", "/a~0b~1c"],
            FormatKind::RelativeJsonPointer => &["0", "0#", "1/a"],
            FormatKind::Regex => &["", "^$", "(a|b)*"],
            FormatKind::Json => &["null", "{}"],
            FormatKind::Base64 => &["", "AA==", "/+8="],
            FormatKind::Base64Json => &["e30=", "bnVsbA=="],
        }
    }

    /// Strings that just miss the format.
    pub(crate) fn misses(self) -> &'static [&'static str] {
        match self.kind {
            FormatKind::DateTime => {
                &["2023-02-29T00:00:00Z", "2024-01-01 00:00:00", "2024-01-01T24:00:00Z", "not a date"]
            }
            FormatKind::Date => &["2023-02-29", "2024-13-01", "24-01-01", "2024-1-1"],
            FormatKind::Time => &["24:00:00Z", "12:00:00", "12:60:00Z"],
            FormatKind::Duration => &["P", "PT", "1D", "P1"],
            FormatKind::Email | FormatKind::IdnEmail => &["plain", "@example.com", "a@", "a b@example.com"],
            FormatKind::Hostname | FormatKind::IdnHostname => &["-a.example", "a..b", "a_b", ""],
            FormatKind::Ipv4 => &["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4"],
            FormatKind::Ipv6 => &["12345::", "1::2::3", "::g", "1:2:3:4:5:6:7:8:9"],
            FormatKind::Uri | FormatKind::Iri => &["//no.scheme/a", "no scheme", "http://a b", "http:// a"],
            FormatKind::UriReference | FormatKind::IriReference => &["\\\\host\\share", "a b", "%zz"],
            FormatKind::Uuid => {
                &["00000000-0000-0000-0000-00000000000", "not-a-uuid", "0000000g-0000-0000-0000-000000000000"]
            }
            FormatKind::UriTemplate => &["{", "/a{b", "}"],
            FormatKind::JsonPointer => &["a", "/~2", "#"],
            FormatKind::RelativeJsonPointer => &["/a", "01", "-1", "+1"],
            FormatKind::Regex => &["(", "[", "*"],
            FormatKind::Json => &["", "{", "nul"],
            FormatKind::Base64 | FormatKind::Base64Json => &["=", "%%%%", "e30"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Format> {
        let named = FORMATS.iter().map(|&(_, kind, _)| kind);
        named
            .chain([FormatKind::Json, FormatKind::Base64, FormatKind::Base64Json])
            .map(|kind| Format { kind, asserted: true })
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
