//! What goes on between a client and a correct server, over each transport and in each version.

mod common;

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use wallfacer_core::catalogue::discover;
use wallfacer_core::observe::{Answer, see};
use wallfacer_core::run::{Call, execute};
use wallfacer_core::target::{Command, Protocol, Reach, Target, Version};
use wallfacer_core::wire::{
    Body, Connection, Connector, Content, Correlation, Direction, Fault, Happening, Id, Outcome, Server,
    Stream,
};
use wallfacer_fixtures::Transport::{self, Http, LegacySse, Stdio};
use wallfacer_process::Means;

const PATIENCE: Duration = Duration::from_secs(20);

/// Every transport with every version that it can carry.
fn ways() -> impl Iterator<Item = (Transport, Version)> {
    let versions = |transport| Version::ALL.into_iter().map(move |version| (transport, version));
    let legacy = versions(LegacySse).filter(|(_, version)| *version < Version::LATEST);
    versions(Stdio).chain(versions(Http)).chain(legacy)
}

async fn open(transport: Transport, version: Version) -> (Connection, Server) {
    let mut target = Target::new(common::fixture("correct", transport));
    target.protocol = Protocol::Fixed(version);
    target.timeouts.startup = PATIENCE;
    let mut connector = Connector::new(target, common::environment());
    let (mut connection, server) =
        connector.open().await.unwrap_or_else(|error| panic!("{transport:?} {version}: {error}"));
    let timeouts = connector.target().timeouts.clone();
    discover(&mut connection, &server, &timeouts).await;
    (connection, server)
}

/// The text of a tool's answer.
async fn call(connection: &mut Connection, tool: &str, arguments: Value) -> String {
    let recording = execute(connection, &Call::tool(tool, arguments, PATIENCE)).await;
    let seen = see(&recording);
    assert_eq!(seen.answer, Answer::Completed, "{tool}: {recording:?}");
    assert!(seen.faults.is_empty(), "{tool}: {}", seen.faults);
    let Some(Outcome::Reply(reply)) = &recording.outcome else { unreachable!() };
    let result = reply.result().unwrap();
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_server_that_was_started_on_one_thread_is_asked_on_another() {
    let starting = std::thread::spawn(|| {
        common::wait_for(async {
            let (mut connection, _) = open(Stdio, Version::LATEST_LEGACY).await;
            assert!(connection.detach());
            connection
        })
    });
    let mut connection = starting.join().unwrap();
    common::wait_for(async {
        connection.attach().unwrap();
        assert_eq!(call(&mut connection, "echo", json!({ "text": "here" })).await, "here");
        assert!(connection.close(PATIENCE).await.strays.is_empty());
    });
}

#[test]
fn a_correct_server_is_understood_over_every_transport_and_in_every_version() {
    common::wait_for(async {
        for (transport, version) in ways() {
            let (mut connection, server) = open(transport, version).await;
            assert_eq!(server.protocol, version);
            assert_eq!(call(&mut connection, "echo", json!({ "text": "héllo" })).await, "héllo");
            let farewell = connection.close(PATIENCE).await;
            assert!(farewell.strays.is_empty(), "{transport:?} {version}: {:?}", farewell.strays);
        }
    });
}

#[test]
fn questions_of_the_server_get_safe_answers_that_fit() {
    common::wait_for(async {
        for (transport, version) in ways() {
            let (mut connection, _) = open(transport, version).await;
            if version >= Version::V2025_06_18 {
                let agreed =
                    call(&mut connection, "confirm", json!({ "question": "Delete everything?" })).await;
                assert_eq!(agreed, "not agreed", "{transport:?} {version}");
            }
            let summary = call(&mut connection, "summarize", json!({ "text": "long" })).await;
            assert!(summary.contains("ok"), "{transport:?} {version}: {summary}");
            let roots = call(&mut connection, "roots", json!({})).await;
            assert!(!roots.contains("file:"), "{transport:?} {version}: {roots}");
            let asked = connection.frames().iter().filter(|frame| {
                frame.direction == Direction::Received && frame.correlation == Correlation::ServerRequest
            });
            let modern = version == Version::LATEST;
            assert_eq!(asked.count() > 0, !modern, "only the legacy era sends requests of its own");
        }
    });
}

#[test]
fn a_client_without_manners_leaves_questions_unanswered() {
    common::wait_for(async {
        let (mut connection, _) = open(Stdio, Version::V2025_11_25).await;
        connection.manners.answer_requests = false;
        let asked = Call::tool("confirm", json!({ "question": "?" }), Duration::from_millis(300));
        assert_eq!(see(&execute(&mut connection, &asked).await).answer, Answer::Silent);
        let (mut connection, _) = open(Stdio, Version::V2026_07_28).await;
        connection.manners.give_input = false;
        let recording =
            execute(&mut connection, &Call::tool("confirm", json!({ "question": "?" }), PATIENCE)).await;
        let Some(Outcome::Reply(reply)) = &recording.outcome else { panic!("{recording:?}") };
        assert_eq!(reply.result().unwrap()["resultType"], "input_required");
    });
}

#[test]
fn many_requests_in_flight_get_each_its_own_answer() {
    common::wait_for(async {
        for (transport, version) in ways() {
            let (mut connection, _) = open(transport, version).await;
            let mut waiting = std::collections::BTreeMap::new();
            for number in 0..100 {
                let params = json!({ "name": "echo", "arguments": { "text": format!("text {number}") } });
                let ticket = connection.request("tools/call", params.as_object());
                waiting.insert(ticket, format!("text {number}"));
            }
            let deadline = Instant::now() + PATIENCE;
            while !waiting.is_empty() {
                let Happening::Answered(answered) = connection.next(deadline).await else {
                    panic!("{transport:?} {version}: {} never answered", waiting.len())
                };
                let Outcome::Reply(reply) = answered.outcome else { panic!("{:?}", answered.outcome) };
                let wanted = waiting.remove(&answered.ticket).expect("an answer to what was asked, once");
                assert_eq!(reply.result().unwrap()["content"][0]["text"], wanted.as_str());
            }
            assert!(connection.take_strays().is_empty());
        }
    });
}

#[test]
fn raw_frames_go_out_as_they_are_and_answers_are_matched_by_type() {
    common::wait_for(async {
        let (mut connection, _) = open(Stdio, Version::V2025_11_25).await;
        let request = |id: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        let text = connection.send_raw(request("\"900\"").as_bytes(), Some(Id::Text("900".to_owned())));
        let number = connection.send_raw(request("900").as_bytes(), Some(Id::Number("900".to_owned())));
        for _ in 0..2 {
            let happening = connection.next(Instant::now() + PATIENCE).await;
            let Happening::Answered(answered) = happening else { panic!("{happening:?}") };
            let Outcome::Reply(reply) = answered.outcome else { panic!("{:?}", answered.outcome) };
            let Content::Reply { id: Some(id), .. } = reply.content else { panic!("no reply") };
            let wanted = if answered.ticket == text {
                Id::Text("900".to_owned())
            } else {
                Id::Number("900".to_owned())
            };
            assert!(answered.ticket == text || answered.ticket == number);
            assert_eq!(id, wanted);
        }
    });
}

#[test]
fn after_a_malformed_frame_the_next_request_is_still_answered() {
    common::wait_for(async {
        for transport in [Stdio, Http] {
            let (mut connection, _) = open(transport, Version::V2025_11_25).await;
            for frame in ["{\"jsonrpc\":\"2.0\",\"id\":\n", "\u{0}\n", "[]\n", "42\n", "{}\n"] {
                let sent = connection.send_raw(frame.as_bytes(), None);
                if transport == Http {
                    // Over HTTP the end of the exchange settles even what has no id.
                    let happening = connection.wait_for(sent, Instant::now() + PATIENCE).await;
                    assert!(matches!(happening, Happening::Answered(_)), "{frame:?}: {happening:?}");
                }
                // The refusal of the frame may come without an id meanwhile; the answer comes all the same.
                let echo = Call::tool("echo", json!({ "text": "still here" }), PATIENCE);
                let seen = see(&execute(&mut connection, &echo).await);
                assert_eq!(seen.answer, Answer::Completed, "{transport:?} {frame:?}");
            }
        }
    });
}

#[test]
fn progress_and_log_notifications_are_recorded() {
    common::wait_for(async {
        for (transport, version) in ways() {
            let (mut connection, _) = open(transport, version).await;
            let meta = json!({ "progressToken": "p1", "io.modelcontextprotocol/logLevel": "debug" });
            let params = json!({ "name": "count", "arguments": { "to": 5 }, "_meta": meta });
            let params: Map<String, Value> = params.as_object().unwrap().clone();
            let call = Call { method: "tools/call".to_owned(), params, timeout: PATIENCE };
            let recording = execute(&mut connection, &call).await;
            assert_eq!(see(&recording).answer, Answer::Completed);
            let heard = connection.notifications();
            assert_eq!(heard.get("notifications/progress"), Some(&5), "{transport:?} {version}: {heard:?}");
            assert!(heard.contains_key("notifications/message"), "{transport:?} {version}: {heard:?}");
        }
    });
}

#[test]
fn a_call_that_is_given_up_is_cancelled_and_its_late_answer_is_known_as_such() {
    common::wait_for(async {
        for (transport, version) in ways() {
            let (mut connection, _) = open(transport, version).await;
            let slow = Call::tool("wait", json!({ "milliseconds": 3000 }), Duration::from_millis(100));
            let seen = see(&execute(&mut connection, &slow).await);
            assert_eq!(seen.answer, Answer::Silent, "{transport:?} {version}");
            assert!(seen.took < Duration::from_secs(2), "{transport:?} {version}: {:?}", seen.took);
            assert_eq!(call(&mut connection, "echo", json!({ "text": "next" })).await, "next");
            let sent = connection.frames().iter().filter(|frame| frame.direction == Direction::Sent);
            let told =
                sent.filter(|frame| frame.head.windows(9).any(|window| window == b"cancelled")).count();
            let by_closing = transport == Http && version == Version::LATEST;
            assert_eq!(told, usize::from(!by_closing), "{transport:?} {version}");
        }
    });
}

#[test]
fn a_stream_that_is_cut_is_taken_up_again_where_the_version_allows() {
    common::wait_for(async {
        let (mut connection, _) = open(Http, Version::V2025_11_25).await;
        let report = call(&mut connection, "report", json!({})).await;
        assert!(!report.is_empty());
        let exchanges: Vec<Stream> = connection.frames().iter().map(|frame| frame.stream).collect();
        assert!(exchanges.iter().any(|stream| matches!(stream, Stream::Event(_))), "{exchanges:?}");
    });
}

#[test]
fn arguments_marked_as_headers_travel_as_headers_too() {
    common::wait_for(async {
        // The server refuses the call when header and argument differ or one is missing.
        let (mut connection, _) = open(Http, Version::V2026_07_28).await;
        for region in ["eu", "Zürich ", "=?base64?eA==?="] {
            let said = call(&mut connection, "route", json!({ "region": region, "replicas": 3 })).await;
            assert!(said.contains(region.trim()), "{said}");
        }
    });
}

#[test]
fn frames_are_kept_both_ways_with_what_they_belong_to() {
    common::wait_for(async {
        let (mut connection, _) = open(Stdio, Version::V2025_11_25).await;
        let before = connection.frames().total();
        call(&mut connection, "echo", json!({ "text": "kept" })).await;
        let frames: Vec<_> = connection.frames().iter().skip(before as usize).collect();
        assert_eq!(frames.len(), 2);
        let [sent, received] = frames[..] else { unreachable!() };
        assert_eq!((sent.direction, received.direction), (Direction::Sent, Direction::Received));
        assert_eq!(sent.correlation, received.correlation);
        assert!(matches!(sent.correlation, Correlation::Request(_)));
        assert!(sent.at <= received.at);
        assert!(received.head.windows(4).any(|window| window == b"kept"));
    });
}

#[test]
fn refusals_of_a_correct_server_are_refusals() {
    common::wait_for(async {
        for (transport, version) in ways() {
            let (mut connection, _) = open(transport, version).await;
            let unknown =
                Call { method: "harness/unknown".to_owned(), params: Map::new(), timeout: PATIENCE };
            let seen = see(&execute(&mut connection, &unknown).await);
            assert_eq!(seen.answer, Answer::Rejected { code: -32601 }, "{transport:?} {version}");
            let wrong = Call::tool("add", json!({ "a": "one" }), PATIENCE);
            let seen = see(&execute(&mut connection, &wrong).await);
            let refused = matches!(seen.answer, Answer::ToolError | Answer::Rejected { .. });
            assert!(refused, "{transport:?} {version}: {:?}", seen.answer);
            assert!(
                !seen.faults.iter().any(|fault| !matches!(fault, Fault::HttpStatus(_))),
                "{}",
                seen.faults
            );
        }
    });
}

#[test]
fn a_reply_body_is_what_was_written() {
    common::wait_for(async {
        let (mut connection, _) = open(Stdio, Version::V2026_07_28).await;
        let recording = execute(&mut connection, &Call::tool("echo", json!({ "text": "x" }), PATIENCE)).await;
        let Some(Outcome::Reply(reply)) = &recording.outcome else { panic!("{recording:?}") };
        let Content::Reply { body: Body::Result(range), .. } = &reply.content else { panic!("{reply:?}") };
        let text = std::str::from_utf8(&reply.bytes).unwrap();
        assert!(text.contains(reply.text(range)) && reply.text(range).starts_with('{'));
    });
}

#[test]
fn a_server_that_once_stayed_is_told_by_a_signal_the_next_time() {
    let server = wallfacer_fixtures::server();
    let stays = "trap 'exit 0' TERM; \"$0\" correct; while :; do sleep 1; done";
    let command = Command::new("sh", ["-c".as_ref(), stays.as_ref(), server.as_os_str()]);
    let mut target = Target::new(Reach::Command(command));
    target.timeouts.startup = PATIENCE;
    let mut connector = Connector::new(target, common::environment());
    let mut leave = |grace| {
        common::wait_for(async {
            let (connection, _) = connector.open().await.unwrap();
            connector.dismiss(connection, grace).await.process.unwrap().means
        })
    };
    assert_ne!(leave(Duration::from_millis(1)), Means::Itself);
    // Where it is not told, it stays for longer than this.
    assert_eq!(leave(PATIENCE), Means::Itself);
}
