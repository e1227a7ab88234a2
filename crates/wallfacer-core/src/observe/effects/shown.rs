//! Writes [`Effects`] as the JSON that rules and documents see.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::gather::{Effects, Touch};

impl Effects {
    /// `files` with what was done to each, `hosts` that were called or looked up, `programs` that were started.
    pub fn shown(&self) -> Value {
        let made: BTreeSet<&Touch> = self.creates.iter().collect();
        let written = self.writes.iter().filter(|touch| !made.contains(touch));
        let gone = self.deletes.iter().chain(&self.moves);
        let read = self.reads.iter().chain(&self.lists).chain(&self.sockets);
        let mut files: Vec<Value> = read.map(|touch| file(touch, "read")).collect();
        files.extend(self.sought.iter().map(|touch| file(touch, "look for")));
        files.extend(written.map(|touch| file(touch, "write")));
        files.extend(self.creates.iter().map(|touch| file(touch, "create")));
        files.extend(gone.map(|touch| file(touch, "delete")));
        let mut hosts: Vec<Value> = self
            .connects
            .iter()
            .map(|contact| {
                json!({ "host": contact.host, "port": contact.port, "loopback": !contact.is_outside(),
                    "tls": contact.tls, "sent": contact.sent })
            })
            .collect();
        let called: BTreeSet<&str> = self.connects.iter().map(|contact| contact.host.as_str()).collect();
        let asked = self.names.iter().filter(|name| !called.contains(name.as_str()));
        hosts.extend(asked.map(|name| json!({ "host": name, "loopback": name == "localhost" })));
        let programs: Vec<Value> = self
            .programs
            .iter()
            .map(|ran| json!({ "path": ran.file.to_string_lossy(), "arguments": ran.arguments }))
            .collect();
        json!({ "files": files, "hosts": hosts, "programs": programs, "listens": self.listens,
            "noise": self.filtered, "lost": self.lost })
    }
}

fn file(touch: &Touch, access: &str) -> Value {
    json!({ "path": touch.path.to_string_lossy(), "access": access, "place": touch.place })
}
