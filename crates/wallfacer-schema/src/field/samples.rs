//! Lists values that a server is likely to take seriously, for each [`FieldKind`] of field. Hosts and addresses are those
//! reserved for documentation.

use wallfacer_text::lexicon::FieldKind;

/// Texts that are usual for a kind of field, the most usual first.
pub fn strings(kind: FieldKind) -> &'static [&'static str] {
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
        FieldKind::Identifier => &["1", "item-1", "abc123", "42"],
        FieldKind::Uuid => &["123e4567-e89b-42d3-a456-426614174000", "00000000-0000-4000-8000-000000000001"],
        FieldKind::Timezone => &["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"],
        FieldKind::DateTime => &["2024-05-01T12:00:00Z", "2024-05-01", "2025-01-31T08:30:00+00:00"],
        FieldKind::Date => &["2024-05-01", "2025-01-31"],
        FieldKind::Time => &["12:00", "08:30", "23:59"],
        FieldKind::Year => &["2024", "1999"],
        FieldKind::Language => &["en", "python", "javascript", "fr-FR"],
        FieldKind::Country => &["US", "DE", "USA", "Germany"],
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
        FieldKind::Regex => &["[a-z]+", "^.*$", "\\d+", "hello"],
        FieldKind::Cron => &["0 9 * * *", "*/5 * * * *", "0 9 * * 1-5"],
        FieldKind::Base64 => &["aGVsbG8gd29ybGQ=", "eyJhIjoxfQ=="],
        FieldKind::Hash => &[
            "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
            "5d41402abc4b2a76b9719d911017c592",
        ],
        FieldKind::Package => &["requests", "express", "left-pad@1.3.0"],
        FieldKind::Selector => &["body", "h1", "#main .item", "//h1"],
        FieldKind::Ticker => &["AAPL", "MSFT", "BTC"],
        FieldKind::Duration => &["1h", "30m", "PT1H", "1 hour"],
        FieldKind::Diagram => &[
            "graph TD\n  A[Start] --> B[End]",
            "sequenceDiagram\n  Alice->>Bob: Hello",
            "flowchart LR\n  A --> B",
        ],
        FieldKind::Graph => &["digraph G { a -> b; }", "graph G { a -- b; }"],
        FieldKind::Markdown => {
            &["# Title\n\nA short text with a [link](https://example.com/).\n\n- one\n- two\n"]
        }
        FieldKind::Csv => &["name,value\nalpha,1\nbeta,2\n"],
        FieldKind::Xml => &["<root><item id=\"1\">hello</item></root>"],
        FieldKind::Yaml => &["name: example\nvalue: 1\n"],
        FieldKind::Cell => &["A1", "B2", "C3"],
        FieldKind::CellRange => &["A1:B2", "A1", "A1:C10"],
        FieldKind::Sheet => &["Sheet1", "Sheet", "Data"],
        FieldKind::Table => &["users", "notes", "items"],
        FieldKind::Column => &["name", "id", "A"],
        FieldKind::Namespace => &["default", "example"],
        FieldKind::Unit => &["km", "celsius", "kg"],
        FieldKind::Month => &["2024-05", "5", "May"],
        FieldKind::Hour => &["12", "08"],
        FieldKind::Coordinates => &["52.52,13.405", "0,0"],
        FieldKind::PreprintId => &["2301.00001", "2301.00001v1", "math/0309136"],
        FieldKind::Doi => &["10.1000/182", "https://doi.org/10.1000/182"],
        FieldKind::Isbn => &["9780306406157", "0306406152"],
        FieldKind::PubMedId => &["12345678", "23456789"],
        FieldKind::VideoId => &["dQw4w9WgXcQ", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"],
        FieldKind::VideoUrl => &["https://www.youtube.com/watch?v=dQw4w9WgXcQ", "dQw4w9WgXcQ"],
        FieldKind::Vulnerability => &["CVE-2021-44228"],
        FieldKind::Image => &["alpine:latest", "nginx", "alpine"],
        FieldKind::Arn => &["arn:aws:s3:::example-bucket", "arn:aws:iam::123456789012:user/example"],
        FieldKind::Bucket => &["example-bucket"],
        FieldKind::Airport => &["JFK", "LHR", "KJFK"],
        FieldKind::Coin => &["bitcoin", "ethereum"],
        FieldKind::TradingPair => &["BTCUSDT", "BTC-USD", "BTC/USDT"],
        FieldKind::Isin => &["US0378331005"],
        FieldKind::Iban => &["DE89370400440532013000"],
        FieldKind::PostalCode => &["10001", "10115", "SW1A 1AA"],
        FieldKind::Slug => &["octocat/hello-world"],
        FieldKind::Wikidata => &["Q42"],
        FieldKind::Protein => &["P69905"],
        FieldKind::Molecule => &["CCO", "c1ccccc1"],
        FieldKind::Film => &["tt0111161"],
        FieldKind::Subnet => &["192.0.2.0/24"],
        FieldKind::MacAddress => &["00:00:5e:00:53:01"],
    }
}

/// The same for numbers.
pub fn numbers(kind: FieldKind) -> &'static [f64] {
    match kind {
        FieldKind::Port => &[8080.0, 80.0, 443.0],
        FieldKind::Year => &[2024.0, 1999.0],
        FieldKind::Latitude => &[52.52, 0.0, -33.86],
        FieldKind::Longitude => &[13.405, 0.0, 151.21],
        FieldKind::Count => &[1.0, 5.0, 10.0, 100.0],
        FieldKind::Page => &[0.0, 1.0, 2.0],
        FieldKind::Percentage => &[0.0, 50.0, 100.0],
        FieldKind::Identifier => &[1.0, 2.0, 42.0],
        FieldKind::DateTime | FieldKind::Date | FieldKind::Time => &[1_700_000_000.0, 0.0],
        FieldKind::Month => &[5.0, 1.0, 12.0],
        FieldKind::Hour => &[12.0, 0.0, 23.0],
        FieldKind::Duration => &[1.0, 60.0, 3_600.0],
        _ => &[],
    }
}
