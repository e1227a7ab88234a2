//! Lists values that a server is likely to take seriously, for each [`FieldKind`] of field. Hosts and addresses are those
//! reserved for documentation.

use super::kind::FieldKind;

pub(crate) fn strings(kind: FieldKind) -> &'static [&'static str] {
    match kind {
        FieldKind::Path => {
            &["README.md", "/tmp/example.txt", "src/main.py", "./notes.txt", "data/report.csv"]
        }
        FieldKind::Directory => &[".", "/tmp", "src", "/tmp/example"],
        FieldKind::FileName => &["example.txt", "report.csv", "index.html"],
        FieldKind::Url => {
            &["https://example.com/", "https://example.com/index.html", "http://www.example.org/a?b=c"]
        }
        FieldKind::Host => &["example.com", "localhost", "www.example.org"],
        FieldKind::Port => &["80", "8080", "443"],
        FieldKind::IpAddress => &["192.0.2.1", "127.0.0.1", "2001:db8::1"],
        FieldKind::Email => &["alice@example.com", "bob@example.org"],
        FieldKind::Phone => &["+15555550100", "555-0199"],
        FieldKind::Command => &["echo hello", "ls", "true"],
        FieldKind::Sql => &["SELECT 1", "SELECT * FROM users LIMIT 1", "SELECT name FROM sqlite_master"],
        FieldKind::SearchQuery => &["hello", "example", "error handling", "name"],
        FieldKind::Code => &["print('hello')", "1 + 1", "function add(a, b) { return a + b; }"],
        FieldKind::Html => &["<p>hello</p>", "<html><body>hi</body></html>"],
        FieldKind::Json => &["{}", "{\"a\": 1}", "[1, 2]"],
        FieldKind::Expression => &["1 + 1", "2 * (3 + 4)", "x ^ 2"],
        FieldKind::Glob => &["*", "*.txt", "**/*.md", "src/*"],
        FieldKind::Identifier => &["1", "42", "abc123", "item-1"],
        FieldKind::Uuid => &["123e4567-e89b-42d3-a456-426614174000", "00000000-0000-4000-8000-000000000001"],
        FieldKind::Timezone => &["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"],
        FieldKind::DateTime => &["2024-05-01T12:00:00Z", "2025-01-31T08:30:00+00:00"],
        FieldKind::Date => &["2024-05-01", "2025-01-31"],
        FieldKind::Time => &["12:00", "08:30", "23:59"],
        FieldKind::Year => &["2024", "1999"],
        FieldKind::Language => &["en", "de", "fr-FR", "python"],
        FieldKind::Country => &["US", "DE", "JP"],
        FieldKind::City => &["Berlin", "New York", "Tokyo"],
        FieldKind::Currency => &["USD", "EUR", "JPY"],
        FieldKind::Owner => &["octocat", "alice", "example"],
        FieldKind::Repository => &["hello-world", "example"],
        FieldKind::Branch => &["main", "HEAD", "feature/example"],
        FieldKind::Revision => &["HEAD", "HEAD~1", "0123456789abcdef0123456789abcdef01234567"],
        FieldKind::Version => &["1.0.0", "latest", "v2"],
        FieldKind::Person => &["Alice", "Bob Smith"],
        FieldKind::Label => &["example", "Test", "sample item"],
        FieldKind::Text => &["Hello, world", "A short text.", "First line\nSecond line"],
        FieldKind::Secret => &["example-token", "s3cret"],
        FieldKind::Color => &["#ff0000", "blue", "#333"],
        FieldKind::MimeType => &["text/plain", "application/json", "image/png"],
        FieldKind::Latitude => &["52.52", "0"],
        FieldKind::Longitude => &["13.405", "0"],
        FieldKind::Count | FieldKind::Page => &["1", "10"],
        FieldKind::Percentage => &["50", "100"],
        FieldKind::Template => &["Hello {name}", "{{title}}"],
    }
}

pub(crate) fn numbers(kind: FieldKind) -> &'static [f64] {
    match kind {
        FieldKind::Port => &[8080.0, 80.0, 443.0],
        FieldKind::Year => &[2024.0, 1999.0],
        FieldKind::Latitude => &[52.52, 0.0, -33.86],
        FieldKind::Longitude => &[13.405, 0.0, 151.21],
        FieldKind::Count => &[1.0, 5.0, 10.0, 100.0],
        FieldKind::Page => &[0.0, 1.0, 2.0],
        FieldKind::Percentage => &[0.0, 50.0, 100.0],
        FieldKind::Identifier => &[1.0, 2.0, 42.0],
        FieldKind::DateTime => &[1_700_000_000.0, 0.0],
        _ => &[],
    }
}
