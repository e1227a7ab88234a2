//! A tool that fetches what it is told.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::json;

use crate::answer::Answer;
use crate::scenes::{Scene, Tool, failed, said};

const PATIENCE: Duration = Duration::from_secs(2);
/// The one host whose pages are fetched.
const ALLOWED: &str = "http://www.example.com";
/// What of a page is read.
const MAX_PAGE: u64 = 4 << 10;

pub fn scene(name: &str) -> Option<Scene> {
    let tool = match name {
        "request-to-inner-address" => {
            let fields = json!({"url": {"type": "string"}});
            let tool = Tool::new("fetch_page", "Fetches a page.", fields, &["url"], |call| {
                fetch(call.text("url"), is_outer)
            });
            tool.except(|_| true, |call| fetch(call.text("url"), |_| true))
        }
        "request-by-declaration" => {
            let fields = json!({"data": {"type": "string", "format": "uri"}});
            let tool = Tool::new("pack", "Makes something smaller.", fields, &["data"], |call| {
                fetch(call.text("data"), is_outer)
            });
            tool.except(|_| true, |call| fetch(call.text("data"), |_| true))
        }
        "file-by-address" => {
            let fields = json!({"url": {"type": "string"}});
            let tool = Tool::new("fetch_page", "Fetches a page.", fields, &["url"], |call| {
                fetch(call.text("url"), is_outer)
            });
            tool.except(
                |call| call.text("url").starts_with("file://"),
                |call| match std::fs::read_to_string(call.text("url").trim_start_matches("file://")) {
                    Ok(text) => said(&text),
                    Err(error) => failed(&error.to_string()),
                },
            )
        }
        "request-by-name" => {
            let fields = json!({"url": {"type": "string"}});
            let tool = Tool::new("fetch_page", "Fetches a page.", fields, &["url"], |call| {
                fetch(call.text("url"), is_outer)
            });
            tool.except(|call| looks_outer(call.text("url")), |call| fetch(call.text("url"), |_| true))
        }
        "request-by-allowed-beginning" => {
            let fields = json!({"url": {"type": "string"}});
            let about = "Fetches a page of one host, such as http://www.example.com/.";
            let tool = Tool::new("fetch_page", about, fields, &["url"], |call| match call.text("url") {
                url if url == ALLOWED || url.starts_with(&format!("{ALLOWED}/")) => fetch(url, is_outer),
                _ => failed("only http://www.example.com/ is fetched"),
            });
            tool.except(
                |call| call.text("url").starts_with(ALLOWED),
                |call| fetch(call.text("url"), |_| true),
            )
        }
        "request-after-redirect" => {
            let fields = json!({"url": {"type": "string"}});
            let tool = Tool::new("fetch_feed", "Fetches a feed.", fields, &["url"], |call| {
                follow(call.text("url"), is_outer, is_outer)
            });
            tool.except(|_| true, |call| follow(call.text("url"), is_outer, |_| true))
        }
        _ => return None,
    };
    Some(Scene::around(tool))
}

/// Whether the host is a name that is not known to be an inner one.
fn looks_outer(address: &str) -> bool {
    let host =
        address.strip_prefix("http://").and_then(|rest| rest.split(['/', ':']).next()).unwrap_or_default();
    let has_letters = host.chars().any(|letter| letter.is_ascii_alphabetic() && letter != 'x');
    has_letters && !host.to_lowercase().contains("localhost") && !host.contains('@')
}

/// Fetches an address, and where it is sent on to, the next one.
fn follow(address: &str, first: fn(&SocketAddr) -> bool, next: fn(&SocketAddr) -> bool) -> Answer {
    let path = address.splitn(4, '/').nth(3).unwrap_or_default();
    let page = match resolved(address) {
        Some(found) if first(&found) => page(&found, path),
        Some(_) => return failed("this address is not fetched"),
        None => return failed("there is no such host"),
    };
    let page = match page {
        Ok(page) => page,
        Err(error) => return failed(&error.to_string()),
    };
    match page.lines().find_map(|line| line.strip_prefix("Location: ")) {
        Some(location) => fetch(location.trim(), next),
        None => said(&page),
    }
}

fn resolved(address: &str) -> Option<SocketAddr> {
    let host = address.strip_prefix("http://")?.split('/').next()?;
    let host = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    host.to_socket_addrs().ok()?.next()
}

fn fetch(address: &str, allowed: fn(&SocketAddr) -> bool) -> Answer {
    match resolved(address) {
        Some(address) if allowed(&address) => load(&address),
        Some(_) => failed("this address is not fetched"),
        None => failed("there is no such host"),
    }
}

fn load(address: &SocketAddr) -> Answer {
    page(address, "").map_or_else(|error| failed(&error.to_string()), |page| said(&page))
}

fn page(address: &SocketAddr, path: &str) -> io::Result<String> {
    let mut page = String::new();
    let mut stream = TcpStream::connect_timeout(address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("GET /{path} HTTP/1.0\r\n\r\n").as_bytes())?;
    stream.take(MAX_PAGE).read_to_string(&mut page)?;
    Ok(page)
}

fn is_outer(address: &SocketAddr) -> bool {
    !is_inner(address.ip().to_canonical())
}

/// Addresses that only this machine or its network can reach.
fn is_inner(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || address.is_unspecified()
        }
        IpAddr::V6(address) => address.is_loopback() || address.is_unspecified() || address.is_unique_local(),
    }
}
