//! Answers an HTTP request as a service might: with the kind of document that was asked for, so that a server which
//! fetches something goes on behind the fetch.
//!
//! | file | in → out |
//! |---|---|
//! | `asked` | a request → what of it decides the answer |
//! | `form` | a request → JSON, a page, a feed, an image, … |
//! | `entity` | a name → a value that a member of that name may have |
//! | `json` | a request → a JSON document |
//! | `graphql` | a query → the document that it selects |
//! | `git` | what a client of git asks → a repository |
//! | `query` | an action that a form asks for → its result in XML |
//! | `pages`, `files` | the other forms |
//! | `shapes` | what a server was seen to miss in earlier answers |

mod asked;
mod entity;
mod files;
mod form;
pub mod git;
mod graphql;
mod json;
mod pages;
mod query;
mod shapes;

use super::REDIRECT;

pub(super) use asked::Asked;
pub use form::Form;
pub use shapes::{Hint, Part, Shapes, Type};

/// One answer, before it is written on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: &'static str,
    pub(super) content_type: &'static str,
    pub(super) location: Option<String>,
    pub(super) body: Vec<u8>,
}

/// What stands in every answer, so that a server that passes on what it has fetched is seen to do so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark<'a> {
    pub(super) marker: &'a str,
}

/// The answer to a request.
pub(super) fn answer(asked: &Asked, shapes: &Shapes, mark: Mark<'_>) -> Answer {
    if let Some(to) = asked.sent_on(REDIRECT) {
        let location = Some(format!("http://{to}/"));
        return Answer { location, ..plain("302 Found", "found\n") };
    }
    if asked.path == "/robots.txt" {
        // A page in its place would be taken for rules.
        return plain("404 Not Found", "not found\n");
    }
    if let Some(answer) = git::answer(asked) {
        return answer;
    }
    let shape = shapes.of(asked);
    if let Some(action) = query::action(asked) {
        let body = query::document(&action, &shape, &entity::Things::of(asked, mark)).into_bytes();
        return Answer { status: "200 OK", content_type: "text/xml", location: None, body };
    }
    let form = shape.form().unwrap_or_else(|| Form::of(asked));
    let body = match form {
        Form::Json => json::document(asked, &shape, mark).into_bytes(),
        Form::Page => pages::page(asked, mark).into_bytes(),
        Form::Rss => pages::rss(asked, mark).into_bytes(),
        Form::Atom => pages::atom(asked, mark).into_bytes(),
        Form::Sitemap => pages::sitemap(asked, mark).into_bytes(),
        Form::Text => pages::text(mark).into_bytes(),
        Form::Csv => pages::csv(mark).into_bytes(),
        Form::Svg => files::svg(mark).into_bytes(),
        Form::Png => files::png(),
        Form::Jpeg => files::jpeg(),
        Form::Gif => files::gif(),
        Form::Webp => files::webp(),
        Form::Pdf => files::pdf(mark),
        Form::Zip => files::zip(mark),
    };
    let status = match &asked.method[..] {
        "POST" if form == Form::Json && asked.creates() => "201 Created",
        _ => "200 OK",
    };
    asked.ranged(Answer { status, content_type: form.content_type(), location: None, body })
}

fn plain(status: &'static str, body: &str) -> Answer {
    Answer { status, content_type: Form::Text.content_type(), location: None, body: body.into() }
}
