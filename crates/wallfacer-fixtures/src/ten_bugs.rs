//! What a run must tell of the small server with ten bugs: each once, and nothing of its twin.

use crate::flaw::Expect;

/// The findings of the server that `ten-bugs` plays; one without a tool is of the server as a whole.
pub const TEN_BUGS: [Expect; 10] = [
    Expect { kind: "accepted_invalid", tool: Some("choose_volume"), severity: "low" },
    Expect { kind: "crash", tool: Some("set_mode"), severity: "critical" },
    Expect { kind: "hang", tool: Some("follow_topic"), severity: "high" },
    Expect { kind: "injection", tool: Some("ping_host"), severity: "critical" },
    Expect { kind: "injection", tool: Some("read_note"), severity: "critical" },
    Expect { kind: "internal_error", tool: None, severity: "medium" },
    Expect { kind: "protocol_error", tool: None, severity: "medium" },
    Expect { kind: "schema_violation", tool: Some("count_notes"), severity: "medium" },
    Expect { kind: "secret_leak", tool: Some("describe_account"), severity: "high" },
    Expect { kind: "undeclared_behaviour", tool: Some("list_notes"), severity: "high" },
];
