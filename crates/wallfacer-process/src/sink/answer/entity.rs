//! Which value a member may have, by its name.

use serde_json::{Map, Value, json};

use super::Mark;
use super::asked::{Asked, is_plural};
use super::shapes::Type;

/// How deep objects stand in each other.
const MAX_DEPTH: usize = 3;
const DAY: &str = "2025-01-15";
const MOMENT: &str = "2025-01-15T12:00:00Z";

/// What the things of one answer have in common.
#[derive(Debug, Clone)]
pub(super) struct Things<'a> {
    pub(super) host: &'a str,
    pub(super) mark: Mark<'a>,
    /// What the request names: a number or a name at the end of its path.
    pub(super) named: Option<String>,
}

/// Members that a thing of most services has.
const MEMBERS: [&str; 28] = [
    "id",
    "key",
    "name",
    "title",
    "slug",
    "description",
    "summary",
    "text",
    "content",
    "url",
    "html_url",
    "link",
    "type",
    "status",
    "state",
    "created_at",
    "updated_at",
    "date",
    "author",
    "user",
    "tags",
    "language",
    "version",
    "count",
    "score",
    "lat",
    "lon",
    "location",
];
/// Those that some have besides.
const FURTHER: [&str; 30] = [
    "uuid",
    "number",
    "full_name",
    "login",
    "email",
    "body",
    "message",
    "snippet",
    "published",
    "publishedDate",
    "createdAt",
    "updatedAt",
    "time",
    "timestamp",
    "image",
    "thumbnail",
    "price",
    "value",
    "rating",
    "latitude",
    "longitude",
    "address",
    "country",
    "city",
    "geometry",
    "properties",
    "owner",
    "metadata",
    "labels",
    "attributes",
];

impl<'a> Things<'a> {
    pub(super) fn of(asked: &'a Asked, mark: Mark<'a>) -> Things<'a> {
        let last = asked.segments().pop().map(|last| last.trim_end_matches(".json").to_owned());
        let by_query = asked.parameter(&["id", "ids", "symbol", "name", "q", "query", "search", "term"]);
        let names_a_thing =
            |last: &String| !is_plural(last) && last.chars().any(|digit| digit.is_ascii_digit());
        let named = last.filter(names_a_thing).or_else(|| by_query.map(str::to_owned));
        Things { host: &asked.host, mark, named }
    }

    /// One thing.
    pub(super) fn entity(&self, depth: usize, rich: bool) -> Value {
        let names = MEMBERS.iter().chain(FURTHER.iter().filter(|_| rich));
        let mut members = Map::new();
        for name in names {
            if depth < MAX_DEPTH || !is_nested(name) {
                members.insert((*name).to_owned(), self.value(name, depth + 1));
            }
        }
        Value::Object(members)
    }

    /// A value that a member of this name may have.
    pub(super) fn value(&self, name: &str, depth: usize) -> Value {
        let words = words(name);
        let last = words.last().map(String::as_str).unwrap_or_default();
        let first = words.first().map(String::as_str).unwrap_or_default();
        let url = || format!("https://{}/{}", self.host, self.mark.marker);
        let asks = matches!(first, "is" | "has" | "can" | "was" | "should") && words.len() > 1;
        match last {
            _ if asks => json!(false),
            "id" | "iid" if words.len() == 1 => self.id(),
            "id" | "number" | "iid" => json!(1),
            "ids" => json!([1]),
            "uuid" | "guid" => json!("123e4567-e89b-42d3-a456-426614174000"),
            "token" if first == "next" => Value::Null,
            "next" | "previous" | "prev" | "cursor" | "parent" => Value::Null,
            "date" | "day" | "birthday" => json!(DAY),
            "at" | "created" | "updated" | "modified" | "published" | "datetime" | "on" => json!(MOMENT),
            "time" if words.len() == 1 => json!(MOMENT),
            "timestamp" | "ts" | "epoch" => json!(1_736_942_400),
            "url" | "uri" | "href" | "link" | "homepage" | "website" | "avatar" | "image" | "thumbnail"
            | "icon" | "src" | "permalink" => json!(url()),
            "email" => json!("someone@example.com"),
            "version" | "latest" => json!("1.0.0"),
            "lat" | "latitude" => json!(52.52),
            "lon" | "lng" | "longitude" => json!(13.41),
            "count" | "total" | "size" | "length" | "page" | "pages" | "limit" | "offset" | "position"
            | "rank" | "index" | "stars" | "points" | "year" | "age" | "duration" | "hits"
                if is_count(&words) =>
            {
                json!(1)
            }
            "score" | "price" | "amount" | "value" | "rating" | "temperature" | "temp" | "speed"
            | "humidity" | "pressure" | "percent" | "percentage" | "rate" | "volume" | "distance"
            | "elevation" | "width" | "height" | "probability" | "open" | "high" | "low" | "close"
            | "balance" => json!(1.5),
            "ok" | "success" | "enabled" | "active" | "valid" | "public" | "verified" | "succeeded" => {
                json!(true)
            }
            "private" | "deleted" | "archived" | "draft" | "disabled" | "fork" | "locked" => json!(false),
            "status" => json!("OK"),
            "state" => json!("open"),
            "type" | "kind" => json!("item"),
            "language" | "lang" | "locale" => json!("en"),
            "country" => json!("DE"),
            "currency" => json!("EUR"),
            "slug" | "key" | "code" | "sha" | "hash" | "login" | "username" => json!("example"),
            "tags" | "labels" | "topics" | "keywords" | "categories" | "genres" => json!(["example"]),
            "geometry" => json!({ "type": "Point", "coordinates": [13.41, 52.52],
                "location": { "lat": 52.52, "lng": 13.41 } }),
            "coordinates" => json!([13.41, 52.52]),
            "location" if depth <= MAX_DEPTH => json!({ "name": "Example", "lat": 52.52, "lng": 13.41,
                "latitude": 52.52, "longitude": 13.41, "city": "Example", "country": "DE" }),
            _ if is_list(name) && depth <= MAX_DEPTH => json!([self.entity(MAX_DEPTH, false)]),
            _ if is_list(name) => json!([]),
            _ if is_nested(name) => self.person(name),
            _ => json!(format!("An example, revision {}", self.mark.marker)),
        }
    }

    /// A value of this type.
    pub(super) fn of_type(&self, name: &str, is: &Type) -> Value {
        let usual = self.value(name, 1);
        match is {
            Type::Is(value) => value.clone(),
            Type::Text if usual.is_string() => usual,
            Type::Text => json!("1"),
            Type::Number if usual.is_number() => usual,
            Type::Number => json!(1),
            Type::Flag if usual.is_boolean() => usual,
            Type::Flag => json!(true),
            Type::List if usual.is_array() => usual,
            Type::List => json!([self.entity(2, false)]),
            Type::Object if usual.is_object() => usual,
            Type::Object => self.entity(2, false),
        }
    }

    fn id(&self) -> Value {
        match &self.named {
            Some(named) => named.parse::<u64>().map_or_else(|_| json!(named), |number| json!(number)),
            None => json!(1),
        }
    }

    fn person(&self, name: &str) -> Value {
        json!({ "id": 1, "login": "example", "name": format!("Example {name}"), "type": "item",
            "url": format!("https://{}/{name}", self.host), "email": "someone@example.com" })
    }
}

/// Whether a member of this name holds several values.
pub(super) fn is_list(name: &str) -> bool {
    const LISTS: [&str; 12] = [
        "items", "results", "data", "list", "children", "edges", "nodes", "hits", "docs", "rows", "entries",
        "organic",
    ];
    let words = words(name);
    let last = words.last().map(String::as_str).unwrap_or_default();
    LISTS.contains(&last) || is_plural(last)
}

/// Whether a member of this name is an object.
fn is_nested(name: &str) -> bool {
    const OBJECTS: [&str; 24] = [
        "author",
        "user",
        "owner",
        "creator",
        "assignee",
        "snippet",
        "geometry",
        "properties",
        "metadata",
        "attributes",
        "location",
        "meta",
        "result",
        "response",
        "object",
        "info",
        "page_info",
        "profile",
        "organization",
        "project",
        "repository",
        "current",
        "account",
        "main",
    ];
    let joined = words(name).join("_");
    OBJECTS.contains(&joined.as_str())
}

fn is_count(words: &[String]) -> bool {
    words.len() > 1 || words.first().is_some_and(|word| word != "hits" && word != "pages")
}

/// `createdAt`, `created_at` and `created-at` are two words each.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if !letter.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words.last_mut().expect("never empty").extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_of_the_kind_that_its_name_says() {
        let asked = Asked::new("GET", Some("a.example"), "/things/17");
        let things = Things::of(&asked, Mark { marker: "m" });
        assert_eq!(things.value("id", 1), json!(17));
        assert!(things.value("createdAt", 1).is_string());
        assert!(things.value("total_count", 1).is_number());
        assert!(things.value("results", 1).is_array());
        assert!(things.value("author", 1).is_object());
        assert!(things.value("is_open", 1).is_boolean());
        assert!(things.value("hourlyForecasts", 1)[0].is_object());
    }

    #[test]
    fn a_type_that_is_known_goes_before_the_name() {
        let asked = Asked::new("GET", Some("a.example"), "/x");
        let things = Things::of(&asked, Mark { marker: "m" });
        assert!(things.of_type("id", &Type::Text).is_string());
        assert!(things.of_type("name", &Type::List).is_array());
        assert_eq!(things.of_type("kind", &Type::Is(json!("bug"))), json!("bug"));
    }
}
