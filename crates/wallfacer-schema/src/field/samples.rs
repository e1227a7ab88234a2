//! Lists values that a server is likely to take seriously, for each [`Kind`] of field. Hosts and addresses are those
//! reserved for documentation.

use super::kind::Kind;

pub(crate) fn strings(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Path => &["README.md", "/tmp/example.txt", "src/main.py", "./notes.txt", "data/report.csv"],
        Kind::Directory => &[".", "/tmp", "src", "/tmp/example"],
        Kind::FileName => &["example.txt", "report.csv", "index.html"],
        Kind::Url => {
            &["https://example.com/", "https://example.com/index.html", "http://www.example.org/a?b=c"]
        }
        Kind::Host => &["example.com", "localhost", "www.example.org"],
        Kind::Port => &["80", "8080", "443"],
        Kind::IpAddress => &["192.0.2.1", "127.0.0.1", "2001:db8::1"],
        Kind::Email => &["alice@example.com", "bob@example.org"],
        Kind::Phone => &["+15555550100", "555-0199"],
        Kind::Command => &["echo hello", "ls", "true"],
        Kind::Sql => &["SELECT 1", "SELECT * FROM users LIMIT 1", "SELECT name FROM sqlite_master"],
        Kind::SearchQuery => &["hello", "example", "error handling", "name"],
        Kind::Code => &["print('hello')", "1 + 1", "function add(a, b) { return a + b; }"],
        Kind::Html => &["<p>hello</p>", "<html><body>hi</body></html>"],
        Kind::Json => &["{}", "{\"a\": 1}", "[1, 2]"],
        Kind::Expression => &["1 + 1", "2 * (3 + 4)", "x ^ 2"],
        Kind::Glob => &["*", "*.txt", "**/*.md", "src/*"],
        Kind::Identifier => &["1", "42", "abc123", "item-1"],
        Kind::Uuid => &["123e4567-e89b-42d3-a456-426614174000", "00000000-0000-4000-8000-000000000001"],
        Kind::Timezone => &["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"],
        Kind::DateTime => &["2024-05-01T12:00:00Z", "2025-01-31T08:30:00+00:00"],
        Kind::Date => &["2024-05-01", "2025-01-31"],
        Kind::Time => &["12:00", "08:30", "23:59"],
        Kind::Year => &["2024", "1999"],
        Kind::Language => &["en", "de", "fr-FR", "python"],
        Kind::Country => &["US", "DE", "JP"],
        Kind::City => &["Berlin", "New York", "Tokyo"],
        Kind::Currency => &["USD", "EUR", "JPY"],
        Kind::Owner => &["octocat", "alice", "example"],
        Kind::Repository => &["hello-world", "example"],
        Kind::Branch => &["main", "HEAD", "feature/example"],
        Kind::Revision => &["HEAD", "HEAD~1", "0123456789abcdef0123456789abcdef01234567"],
        Kind::Version => &["1.0.0", "latest", "v2"],
        Kind::Person => &["Alice", "Bob Smith"],
        Kind::Label => &["example", "Test", "sample item"],
        Kind::Text => &["Hello, world", "A short text.", "First line\nSecond line"],
        Kind::Secret => &["example-token", "s3cret"],
        Kind::Color => &["#ff0000", "blue", "#333"],
        Kind::MimeType => &["text/plain", "application/json", "image/png"],
        Kind::Latitude => &["52.52", "0"],
        Kind::Longitude => &["13.405", "0"],
        Kind::Count | Kind::Page => &["1", "10"],
        Kind::Percentage => &["50", "100"],
        Kind::Template => &["Hello {name}", "{{title}}"],
    }
}

pub(crate) fn numbers(kind: Kind) -> &'static [f64] {
    match kind {
        Kind::Port => &[8080.0, 80.0, 443.0],
        Kind::Year => &[2024.0, 1999.0],
        Kind::Latitude => &[52.52, 0.0, -33.86],
        Kind::Longitude => &[13.405, 0.0, 151.21],
        Kind::Count => &[1.0, 5.0, 10.0, 100.0],
        Kind::Page => &[0.0, 1.0, 2.0],
        Kind::Percentage => &[0.0, 50.0, 100.0],
        Kind::Identifier => &[1.0, 2.0, 42.0],
        Kind::DateTime => &[1_700_000_000.0, 0.0],
        _ => &[],
    }
}
