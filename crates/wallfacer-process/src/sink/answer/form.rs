//! Which kind of document a request asks for.

use super::asked::Asked;

/// A kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    Json,
    Page,
    Rss,
    Atom,
    Sitemap,
    Text,
    Csv,
    Svg,
    Png,
    Jpeg,
    Gif,
    Webp,
    Pdf,
    Zip,
}

/// How the names of files end.
const ENDINGS: [(&str, Form); 28] = [
    ("json", Form::Json),
    ("geojson", Form::Json),
    ("ipynb", Form::Json),
    ("html", Form::Page),
    ("htm", Form::Page),
    ("php", Form::Page),
    ("rss", Form::Rss),
    ("atom", Form::Atom),
    ("rdf", Form::Rss),
    ("xml", Form::Rss),
    ("txt", Form::Text),
    ("md", Form::Text),
    ("yaml", Form::Text),
    ("yml", Form::Text),
    ("js", Form::Text),
    ("css", Form::Text),
    ("csv", Form::Csv),
    ("tsv", Form::Csv),
    ("svg", Form::Svg),
    ("png", Form::Png),
    ("ico", Form::Png),
    ("jpg", Form::Jpeg),
    ("jpeg", Form::Jpeg),
    ("gif", Form::Gif),
    ("webp", Form::Webp),
    ("pdf", Form::Pdf),
    ("zip", Form::Zip),
    ("whl", Form::Zip),
];

/// What clients say that they accept; the first that stands in the header holds.
const ACCEPTED: [(&str, Form); 14] = [
    ("json", Form::Json),
    ("text/html", Form::Page),
    ("rss+xml", Form::Rss),
    ("atom+xml", Form::Atom),
    ("text/csv", Form::Csv),
    ("application/pdf", Form::Pdf),
    ("application/zip", Form::Zip),
    ("svg+xml", Form::Svg),
    ("image/jpeg", Form::Jpeg),
    ("image/webp", Form::Webp),
    ("image/gif", Form::Gif),
    ("image/", Form::Png),
    ("/xml", Form::Atom),
    ("text/plain", Form::Text),
];

/// Parameters that name a format.
const FORMATS: [&str; 7] = ["format", "alt", "output", "fmt", "f", "retmode", "_format"];

impl Form {
    pub(super) fn of(asked: &Asked) -> Form {
        let path = asked.path.to_ascii_lowercase();
        if path.contains("sitemap") && path.ends_with(".xml") {
            return Form::Sitemap;
        }
        let last = path.rsplit('/').next().unwrap_or_default();
        let ending = last.rsplit_once('.').map(|(_, ending)| ending);
        let by_name = |name: &str| ENDINGS.iter().find(|(ending, _)| *ending == name).map(|(_, form)| *form);
        let format = asked.parameter(&FORMATS).map(str::to_ascii_lowercase);
        let format = format.as_deref().map(|format| format.trim_start_matches("application/"));
        if let Some(form) = format.and_then(by_name).or_else(|| ending.and_then(by_name)) {
            return form;
        }
        let accepted = ACCEPTED.iter().find(|(name, _)| asked.accept.contains(name)).map(|(_, form)| *form);
        match accepted {
            // Many accept everything that a browser does.
            Some(Form::Page) if is_like_api(asked) && !asked.accept.starts_with("text/html") => Form::Json,
            Some(form) => form,
            None if last.contains("rss") || last == "feed" || last == "feeds" => Form::Rss,
            None if last.contains("atom") => Form::Atom,
            None if is_like_api(asked) => Form::Json,
            None => Form::Page,
        }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Form::Json => "application/json; charset=utf-8",
            Form::Page => "text/html; charset=utf-8",
            Form::Rss => "application/rss+xml; charset=utf-8",
            Form::Atom => "application/atom+xml; charset=utf-8",
            Form::Sitemap => "application/xml; charset=utf-8",
            Form::Text => "text/plain; charset=utf-8",
            Form::Csv => "text/csv; charset=utf-8",
            Form::Svg => "image/svg+xml",
            Form::Png => "image/png",
            Form::Jpeg => "image/jpeg",
            Form::Gif => "image/gif",
            Form::Webp => "image/webp",
            Form::Pdf => "application/pdf",
            Form::Zip => "application/zip",
        }
    }
}

/// Clients of an interface seldom say that they expect JSON; where they ask, and how, tells.
fn is_like_api(asked: &Asked) -> bool {
    let by_path = asked.path.split('/').any(|part| {
        let part = part.to_ascii_lowercase();
        let version = part.strip_prefix('v').is_some_and(|digits| {
            let digits = digits.split(['.', '-']).next().unwrap_or_default();
            !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit())
        });
        version
            || matches!(
                part.as_str(),
                "api"
                    | "apis"
                    | "graphql"
                    | "rest"
                    | "rpc"
                    | "jsonrpc"
                    | "json"
                    | "query"
                    | "oauth"
                    | "token"
            )
    });
    let labels = || asked.host.split(['.', '-']);
    let by_host = labels().any(|label| matches!(label, "api" | "apis" | "registry" | "graph" | "rpc"))
        || asked.host.contains("api.")
        || asked.host.contains("apis.");
    let key = ["api_key", "apikey", "key", "appid", "app_id", "token", "access_token", "api-key"];
    by_path
        || by_host
        || asked.authorised
        || asked.content_type.contains("json")
        || !matches!(asked.method.as_str(), "GET" | "HEAD")
        || asked.parameter(&key).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(method: &str, host: &str, target: &str, accept: &str) -> Form {
        Form::of(&Asked { accept: accept.to_owned(), ..Asked::new(method, Some(host), target) })
    }

    #[test]
    fn the_form_follows_what_was_asked_for() {
        for (wanted, method, host, target, accept) in [
            (Form::Json, "GET", "a.example", "/x", "application/json, text/plain, */*"),
            (Form::Json, "GET", "api.a.example", "/x", "*/*"),
            (Form::Json, "GET", "a.example", "/v1.0/x", ""),
            (Form::Json, "POST", "a.example", "/x", "*/*"),
            (Form::Json, "GET", "a.example", "/w/x.php?format=json", "*/*"),
            (Form::Json, "GET", "a.example", "/x?appid=1", "*/*"),
            (Form::Page, "GET", "a.example", "/news", "text/html,application/xhtml+xml,application/xml"),
            (Form::Page, "GET", "a.example", "/version/x", "*/*"),
            (Form::Rss, "GET", "a.example", "/blog/feed", "*/*"),
            (Form::Atom, "GET", "a.example", "/x", "application/atom+xml"),
            (Form::Sitemap, "GET", "a.example", "/sitemap.xml", "*/*"),
            (Form::Png, "GET", "a.example", "/i.png?v=2", "*/*"),
            (Form::Png, "GET", "a.example", "/i", "image/*"),
            (Form::Pdf, "GET", "a.example", "/paper.pdf", "*/*"),
            (Form::Csv, "GET", "a.example", "/data.csv", "*/*"),
            (Form::Text, "GET", "a.example", "/llms.txt", "*/*"),
        ] {
            assert_eq!(form(method, host, target, accept), wanted, "{method} {host}{target} {accept}");
        }
    }
}
