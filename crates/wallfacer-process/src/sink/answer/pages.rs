//! Documents for people and readers of feeds: small, valid, with what is commonly looked for in them.

use super::Mark;
use super::asked::Asked;

const MOMENT: &str = "2025-01-15T12:00:00Z";

pub(super) fn page(asked: &Asked, mark: Mark<'_>) -> String {
    let (host, marker) = (safe(&asked.host), mark.marker);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Welcome</title>\n\
         <meta name=\"description\" content=\"An example page.\">\n\
         <meta property=\"og:title\" content=\"Welcome\"><meta property=\"og:type\" content=\"article\">\n\
         <meta property=\"og:image\" content=\"https://{host}/image.png\">\n\
         <link rel=\"canonical\" href=\"https://{host}/\"></head>\n\
         <body><nav><a href=\"https://{host}/about\">About</a></nav>\n\
         <main><article><h1>Welcome</h1>\n<p>This page was last changed in revision {marker}. It is an example of a \
         page with some sentences in it, so that there is something to read.</p>\n\
         <h2>Contents</h2><ul><li><a href=\"https://{host}/first\">First part</a></li>\n\
         <li><a href=\"https://{host}/second\">Second part</a></li></ul>\n\
         <table><tr><th>Name</th><th>Value</th></tr><tr><td>example</td><td>1</td></tr></table>\n\
         <img src=\"https://{host}/image.png\" alt=\"An example\"></article></main></body></html>\n"
    )
}

pub(super) fn rss(asked: &Asked, mark: Mark<'_>) -> String {
    let (host, marker) = (safe(&asked.host), mark.marker);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel><title>Example</title>\
         <link>https://{host}/</link><description>An example, revision {marker}</description>\n\
         <item><title>First entry</title><link>https://{host}/first</link><guid>https://{host}/first</guid>\
         <description>An example, revision {marker}</description><author>someone@example.com</author>\
         <pubDate>Wed, 15 Jan 2025 12:00:00 GMT</pubDate></item></channel></rss>\n"
    )
}

pub(super) fn atom(asked: &Asked, mark: Mark<'_>) -> String {
    let (host, marker) = (safe(&asked.host), mark.marker);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\" \
         xmlns:opensearch=\"http://a9.com/-/spec/opensearch/1.1/\"><title>Example</title>\
         <id>https://{host}/</id><updated>{MOMENT}</updated><link href=\"https://{host}/\"/>\
         <opensearch:totalResults>1</opensearch:totalResults>\n\
         <entry><id>https://{host}/abs/2501.00001v1</id><title>First entry</title>\
         <link href=\"https://{host}/abs/2501.00001v1\" rel=\"alternate\" type=\"text/html\"/>\
         <link href=\"https://{host}/pdf/2501.00001v1\" rel=\"related\" title=\"pdf\" type=\"application/pdf\"/>\
         <published>{MOMENT}</published><updated>{MOMENT}</updated>\
         <author><name>Example Author</name></author><category term=\"example\"/>\
         <summary>An example, revision {marker}</summary><content>An example.</content></entry></feed>\n"
    )
}

pub(super) fn sitemap(asked: &Asked, mark: Mark<'_>) -> String {
    let (host, marker) = (safe(&asked.host), mark.marker);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
         <url><loc>https://{host}/</loc><lastmod>2025-01-15</lastmod></url>\
         <url><loc>https://{host}/{marker}</loc></url></urlset>\n"
    )
}

pub(super) fn text(mark: Mark<'_>) -> String {
    format!(
        "# Example\n\nThis text was last changed in revision {}.\n\n- first: 1\n- second: 2\n",
        mark.marker
    )
}

pub(super) fn csv(mark: Mark<'_>) -> String {
    format!("id,name,date,value\n1,{},2025-01-15,1.5\n2,example,2025-01-16,2.5\n", mark.marker)
}

/// A name of a host, with nothing in it that a document could take for its own.
fn safe(host: &str) -> String {
    host.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '-')).collect()
}
