"""A small server that goes wrong when something happens to it in the middle of its work. See `frame.py`."""

import atexit
import contextlib
import fcntl
import itertools
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request

from frame import FIXED, NAME, Server, cancelled, failed, flawed, local, said, tool

HOME = os.path.join(os.path.expanduser("~"), ".board")
STORE = os.path.join(HOME, "notes.json")
SERVICE = "http://api.example.com/words/"
LOCK = threading.Lock()
kept = []
glances = itertools.count()


# What is stored.


def load():
    try:
        with open(STORE) as file:
            return json.load(file)
    except FileNotFoundError:
        return []


def save(notes):
    os.makedirs(HOME, exist_ok=True)
    if flawed("rewrites-in-place", "fills-up"):
        with open(STORE, "w") as file:
            text = json.dumps(notes)
            for place in range(0, len(text), 16 if NAME == "rewrites-in-place" else len(text)):
                file.write(text[place : place + 16] if NAME == "rewrites-in-place" else text)
                file.flush()
                if NAME == "rewrites-in-place":
                    time.sleep(0.012)
        return
    if NAME == "rewrites-in-place":
        time.sleep(0.02)
    whole = STORE + ".new"
    with open(whole, "w") as file:
        json.dump(notes, file)
    os.replace(whole, STORE)


def append(text):
    """Goes on writing to the file that was opened first, also where that has no name any more."""
    if not kept:
        os.makedirs(HOME, exist_ok=True)
        kept.append(open(STORE, "r+" if os.path.exists(STORE) else "w+"))
    stored = json.loads(kept[0].read() or "[]") + [text]
    kept[0].seek(0)
    kept[0].write(json.dumps(stored))
    kept[0].flush()
    kept[0].seek(0)


@contextlib.contextmanager
def locked():
    """Keeps other processes of this server out."""
    os.makedirs(HOME, exist_ok=True)
    with open(STORE + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def note(arguments):
    try:
        with LOCK, locked() if FIXED else contextlib.nullcontext():
            return keep(arguments["text"])
    except OSError as error:
        return failed("the note was not stored: %s" % error.strerror)


def noted(arguments):
    """The same, as the output schema wants it, which is not that of the list."""
    answer = note(arguments)
    return answer if "isError" in answer else {**answer, "structuredContent": {"noted": True}}


def keep(text):
    if flawed("dies-of-a-lost-file"):
        if kept and not os.path.exists(STORE):
            os._exit(3)
        kept[:] = [True]
    if flawed("saves-at-the-end"):
        kept.append(text)
        return said("noted")
    if flawed("overwrites-others"):
        # What is kept in memory is written over all that others have stored meanwhile.
        if not kept:
            kept[:] = load()
        save(kept + [text])
        kept.append(text)
        return said("noted")
    if flawed("keeps-its-file-open"):
        append(text)
        return said("noted")
    if flawed("hides-failures"):
        kept.append(text)
        try:
            save(kept)
        except OSError:
            pass
        return said("noted")
    save(load() + [text])
    return said("noted")


def notes(_):
    with LOCK:
        if flawed("saves-at-the-end", "hides-failures"):
            return said(json.dumps(kept))
        return said(json.dumps(load()))


def save_at_the_end():
    if flawed("saves-at-the-end"):
        save(kept)


# What takes long.


def ponder(arguments):
    end = time.time() + 6
    child = subprocess.Popen(["sleep", "60"]) if NAME == "keeps-helpers" else None
    while time.time() < end:
        if FIXED and local.key in cancelled:
            break
        if child or NAME == "answers-late":
            time.sleep(0.02)
        if NAME == "answers-late" and time.time() > end - 4.5:
            break
    if child and FIXED:
        child.kill()
        child.wait()
    return said("pondered " + arguments["word"])


# What is asked of a service.


def fetch(word, timeout):
    with urllib.request.urlopen(SERVICE + word, timeout=timeout) as reply:
        return json.loads(reply.read(1 << 20))


def look_up(arguments):
    word = arguments["word"]
    if flawed("asks-for-ever"):
        while True:
            try:
                return said(str(fetch(word, 2)))
            except Exception:
                time.sleep(0.01)
    if flawed("waits-for-ever"):
        try:
            return said(str(fetch(word, None)))
        except Exception as error:
            return failed("the dictionary cannot be reached: %s" % type(error).__name__)
    if flawed("shows-traces"):
        try:
            return said(str(fetch(word, 2)))
        except Exception:
            return failed(traceback.format_exc())
    if flawed("says-nothing"):
        try:
            return said(str(fetch(word, 2)))
        except Exception:
            return failed("")
    if flawed("dies-of-services"):
        try:
            return said(str(fetch(word, 2)))
        except Exception:
            traceback.print_exc()
            os._exit(1)
    try:
        return said(str(fetch(word, 2)))
    except Exception as error:
        return failed("the dictionary cannot be reached: %s" % type(error).__name__)


# What is not given back.


def glance(arguments):
    # In every other call, so that a thousand calls do not end at the limit of the sandbox.
    if flawed("keeps-threads") and next(glances) % 2:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    if flawed("keeps-scraps"):
        handle, _ = tempfile.mkstemp()
        os.close(handle)
    if flawed("keeps-memory"):
        # Zeros alone would take no memory.
        kept.append(b"k" * (256 << 10))
    if flawed("keeps-files") and next(glances) % 3 == 0:
        kept.append(open(os.devnull))
    if flawed("keeps-children") and next(glances) % 3 == 0:
        kept.append(subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
    return said("seen " + arguments["word"])


# What tells how far it is.


def march(arguments):
    steps = [3, 2, 1] if flawed("progress-falls") else [1, 2, 3]
    for step in steps:
        tell(local.progress, step)
        time.sleep(0.02)
    if flawed("progress-goes-on"):
        token = local.progress
        threading.Timer(0.2, lambda: tell(token, 4)).start()
    return said("marched to " + arguments["word"])


def tell(token, step):
    if token is not None:
        params = {"progressToken": token, "progress": step}
        SERVER.send({"method": "notifications/progress", "params": params})


WORD = {"word": {"type": "string", "minLength": 1, "maxLength": 40}}
TEXT = {"text": {"type": "string", "minLength": 1}}
NOTED = {"type": "object", "properties": {"noted": {"type": "boolean"}}, "required": ["noted"]}
BOARD = {
    "add_note": {**tool(noted, "Adds a note to the board.", TEXT, ["text"]), "outputSchema": NOTED},
    "list_notes": tool(notes, "Lists the notes.", {}, []),
}
PONDER = {"ponder": tool(ponder, "Thinks about a word.", WORD, ["word"])}
MARCH = {"march": tool(march, "Marches to a place.", WORD, ["word"])}
WORDS = {"look_up": tool(look_up, "Looks a word up.", WORD, ["word"])}
GLANCE = {name: tool(glance, "Looks at a word.", WORD, ["word"]) for name in ["peek", "glance", "view", "scan"]}
KINDS = {
    "goes-on-working": PONDER,
    "keeps-helpers": PONDER,
    "answers-late": PONDER,
    # Without a flaw.
    "words": WORDS,
    "peek": {"peek": GLANCE["peek"]},
    "glances": GLANCE,
    "march": MARCH,
    "asks-for-ever": WORDS,
    "waits-for-ever": WORDS,
    "shows-traces": WORDS,
    "dies-of-services": WORDS,
    "says-nothing": WORDS,
    "keeps-threads": {"peek": GLANCE["peek"]},
    "keeps-memory": {"peek": GLANCE["peek"]},
    "keeps-files": {"peek": GLANCE["peek"]},
    "keeps-children": {"peek": GLANCE["peek"]},
    "keeps-scraps": {"peek": GLANCE["peek"]},
    "shuffles": GLANCE,
    "drops-unread": GLANCE,
    "progress-falls": MARCH,
    "progress-goes-on": MARCH,
}


class Disturbed(Server):
    def listed(self):
        shown = super().listed()
        if flawed("shuffles"):
            random.shuffle(shown)
        return shown

    def write(self, data):
        if not flawed("drops-unread"):
            return super().write(data)
        try:
            os.write(1, data)
        except BlockingIOError:
            pass

    def take_what_is_no_message(self):
        if flawed("dies-of-a-line"):
            sys.exit(1)
        super().take_what_is_no_message()

    def withholds(self, identity):
        return not flawed("goes-on-working", "keeps-helpers", "answers-late") and super().withholds(identity)

    def lines(self):
        if not flawed("reads-in-pieces"):
            yield from super().lines()
            return
        while piece := os.read(0, 1 << 20):
            yield from (line for line in piece.split(b"\n") if line)

    def over_pipes(self):
        if flawed("drops-unread"):
            fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_NONBLOCK)
        super().over_pipes()
        save_at_the_end()
        if flawed("stays", "stays-below"):
            threading.Event().wait()


def begin():
    if flawed("ignores-signals"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if NAME == "leaves-helpers":
        helper = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if FIXED:
            atexit.register(helper.kill)
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if NAME == "takes-a-port":
        door = socket.socket()
        try:
            door.bind(("127.0.0.1", 47113))
        except OSError:
            if not FIXED:
                raise
            door.bind(("127.0.0.1", 0))
        door.listen()
        kept.append(door)
    if NAME == "locks":
        os.makedirs(HOME, exist_ok=True)
        lock = os.open(os.path.join(HOME, "lock"), os.O_CREAT | os.O_RDWR | (0 if FIXED else os.O_EXCL))
        atexit.register(lambda: os.path.exists(os.path.join(HOME, "lock")) and os.remove(os.path.join(HOME, "lock")))
        os.write(lock, b"%d" % os.getpid())
    if NAME == "locks-its-database":
        os.makedirs(HOME, exist_ok=True)
        database = sqlite3.connect(os.path.join(HOME, "notes.db"), timeout=0.1)
        database.execute("CREATE TABLE IF NOT EXISTS starts (at)")
        # Nobody else can read or write as long as this is not ended.
        database.execute("BEGIN EXCLUSIVE" if flawed("locks-its-database") else "BEGIN DEFERRED")
        kept.append(database)
    if flawed("saves-at-the-end", "hides-failures"):
        kept[:] = load()
    if NAME == "stays-below" and "--below" not in sys.argv:
        raise SystemExit(subprocess.run([sys.executable, *sys.argv, "--below"]).returncode)


begin()
SERVER = Disturbed(KINDS.get(NAME, BOARD))
SERVER.serve()
