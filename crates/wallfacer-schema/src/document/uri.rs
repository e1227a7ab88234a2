//! Resolves a reference against a base URI, by the rules of RFC 3986 section 5.2. Nothing is checked and nothing
//! fetched: the result is only compared with identifiers of the document.

struct Parts<'u> {
    scheme: Option<&'u str>,
    authority: Option<&'u str>,
    path: &'u str,
    query: Option<&'u str>,
}

/// The reference against the base; fragments are cut off beforehand by [`split_fragment`].
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let (base, reference) = (split(base), split(reference));
    if reference.scheme.is_some() {
        return join(reference.scheme, reference.authority, &without_dots(reference.path), reference.query);
    }
    if reference.authority.is_some() {
        return join(base.scheme, reference.authority, &without_dots(reference.path), reference.query);
    }
    if reference.path.is_empty() {
        return join(base.scheme, base.authority, base.path, reference.query.or(base.query));
    }
    let path = if reference.path.starts_with('/') {
        reference.path.to_owned()
    } else {
        let folder = base.path.rfind('/').map_or("", |slash| &base.path[..=slash]);
        format!("{folder}{}", reference.path)
    };
    // A base such as `urn:…` has no hierarchy, so that dots in it mean nothing.
    let path = if path.contains('/') { without_dots(&path) } else { path };
    join(base.scheme, base.authority, &path, reference.query)
}

/// The part before the hash, and the fragment with `%XX` decoded.
pub(crate) fn split_fragment(uri: &str) -> (&str, String) {
    match uri.split_once('#') {
        None => (uri, String::new()),
        Some((before, fragment)) => (before, decode(fragment)),
    }
}

fn decode(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn split(uri: &str) -> Parts<'_> {
    let (scheme, rest) = match uri.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        _ => (None, uri),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            Parts { scheme, authority: Some(&rest[..end]), path: &rest[end..], query }
        }
        None => Parts { scheme, authority: None, path: rest, query },
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn join(scheme: Option<&str>, authority: Option<&str>, path: &str, query: Option<&str>) -> String {
    let mut uri = String::new();
    if let Some(scheme) = scheme {
        uri.push_str(scheme);
        uri.push(':');
    }
    if let Some(authority) = authority {
        uri.push_str("//");
        uri.push_str(authority);
        if !path.is_empty() && !path.starts_with('/') {
            uri.push('/');
        }
    }
    uri.push_str(path);
    if let Some(query) = query {
        uri.push('?');
        uri.push_str(query);
    }
    uri
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                if kept.len() > 1 || kept.first().is_some_and(|first| !first.is_empty()) {
                    kept.pop();
                }
            }
            other => kept.push(other),
        }
        if last && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    kept.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_the_rfc_says() {
        let base = "http://a/b/c/d;p?q";
        for (reference, expected) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("..", "http://a/b/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("", "http://a/b/c/d;p?q"),
            ("urn:x:y", "urn:x:y"),
        ] {
            assert_eq!(resolve(base, reference), expected, "{reference}");
        }
    }

    #[test]
    fn a_fragment_is_decoded_and_bad_escapes_stay() {
        assert_eq!(split_fragment("a#/b%25c"), ("a", "/b%c".to_owned()));
        assert_eq!(split_fragment("#%zz%4"), ("", "%zz%4".to_owned()));
    }
}
