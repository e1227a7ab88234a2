//! Tells by `$schema` which [`Draft`] a document follows, and where the drafts differ in how it is read.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Four,
    Six,
    Seven,
    Nineteen,
    Twenty,
}

impl Draft {
    /// Any spelling seen in the wild: http or https, with or without the trailing hash.
    pub(crate) fn of_uri(uri: &str) -> Option<Draft> {
        let name = uri.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('#');
        match name {
            "json-schema.org/draft-04/schema" => Some(Draft::Four),
            "json-schema.org/draft-06/schema" => Some(Draft::Six),
            "json-schema.org/draft-07/schema" => Some(Draft::Seven),
            "json-schema.org/draft/2019-09/schema" => Some(Draft::Nineteen),
            "json-schema.org/draft/2020-12/schema" => Some(Draft::Twenty),
            _ => None,
        }
    }

    pub(crate) fn id_keyword(self) -> &'static str {
        if self == Draft::Four { "id" } else { "$id" }
    }

    /// Up to draft 7 a reference stands alone: what is written beside it does not count.
    pub(crate) fn reference_stands_alone(self) -> bool {
        self <= Draft::Seven
    }

    /// Up to draft 7 an anchor is an identifier that begins with a hash.
    pub(crate) fn has_hash_anchors(self) -> bool {
        self <= Draft::Seven
    }
}
