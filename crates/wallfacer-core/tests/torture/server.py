"""A small server that goes wrong with calls in flight together: each is answered on a thread of its own. See `frame.py`."""

import contextlib
import fcntl
import json
import os
import random
import tempfile
import threading
import time
import uuid

from frame import FIXED, NAME, OUT, Server, failed, flawed, local, said, tool

LOCK = threading.Lock()
# What all processes of one user share.
HOME = os.path.join(os.path.expanduser("~"), ".items")
STORE = os.path.join(tempfile.mkdtemp(), "items.json")
# The name of this process, whatever its number.
OWN = uuid.uuid4().hex
items = []
running = 0
# It has counted before: who thinks that counters begin with none is wrong.
total = 40
current = {"word": ""}
pending = {}
bodies = {}
replica, fresh = [], []
deep = 0
first, second = threading.Lock(), threading.Lock()


class Guard:
    """Holds the lock where the server is correct."""

    def __enter__(self):
        if FIXED:
            LOCK.acquire()

    def __exit__(self, *_):
        if FIXED:
            LOCK.release()


def pause():
    time.sleep(0.01)


def load():
    if not os.path.exists(STORE):
        return []
    with open(STORE) as file:
        return json.load(file)


def add_to_file(arguments):
    with Guard():
        stored = load()
        pause()
        stored.append(arguments["text"])
        whole = STORE + "." + str(threading.get_ident())
        with open(whole, "w") as file:
            json.dump(stored, file)
        os.replace(whole, STORE)
    return said("added")


def add_in_pieces(arguments):
    with Guard():
        try:
            stored = load()
        except ValueError:
            stored = []
        text = json.dumps(stored + [arguments["text"]])
        with open(STORE, "w" if FIXED or not os.path.exists(STORE) else "r+") as file:
            for place in range(0, len(text), 8):
                file.seek(place)
                file.write(text[place : place + 8])
                file.flush()
                time.sleep(0.001)
            if not FIXED and running > 1:
                file.write("]")
    return said("added")


def add_to_shared_file(arguments):
    os.makedirs(HOME, exist_ok=True)
    path = os.path.join(HOME, "items.json")
    # Calls of one process wait for each other, and those of two do not.
    with LOCK, open(path + ".lock", "w") as lock:
        if FIXED:
            fcntl.flock(lock, fcntl.LOCK_EX)
        stored = read_shared(path)
        pause()
        whole = "%s.%d" % (path, os.getpid())
        with open(whole, "w") as file:
            json.dump(stored + [arguments["text"]], file)
        os.replace(whole, path)
    return said("added")


def read_shared(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return json.load(file)


def list_shared_file(_):
    return said(json.dumps(read_shared(os.path.join(HOME, "items.json"))))


def add_and_try_again(arguments):
    seen = len(items)
    pause()
    with LOCK:
        items.append(arguments["text"])
        # Somebody else was quicker, so it is done once more.
        if not FIXED and len(items) > seen + 1:
            items.append(arguments["text"])
    return said("added")


def add_both(arguments):
    with Guard():
        known = dict(bodies)
        pause()
        known[arguments["title"]] = arguments["body"]
        with contextlib.nullcontext() if FIXED else LOCK:
            items.append(arguments["title"])
        bodies.clear()
        bodies.update(known)
    return said("added")


def list_both(_):
    with LOCK:
        return said(json.dumps([[title, bodies.get(title)] for title in items]))


def add_and_refuse(arguments):
    with LOCK:
        items.append(arguments["text"])
    pause()
    if not FIXED and running > 1:
        return failed("somebody else changes the list: nothing was added")
    return said("added")


def add_to_replicas(arguments):
    with LOCK:
        items.append(arguments["text"])
        fresh[:] = [True]
    with Guard():
        known = list(replica)
        pause()
        replica[:] = known + [arguments["text"]]
    return said("added")


def list_replica(_):
    # The first who asks after a change is answered by the source, and the next by its copy.
    with LOCK:
        source = fresh.pop() if fresh else False
        return said(json.dumps(items if source else list(replica)))


def list_file(_):
    with Guard():
        try:
            return said(json.dumps(load()))
        except ValueError:
            return failed("the list cannot be read")


def add(arguments):
    with LOCK:
        items.append(arguments["text"])
    return said("added")


def list_items(_):
    with LOCK:
        return said(json.dumps(items))


def list_latest(_):
    with LOCK:
        return said(json.dumps(items[-5:]))


def keep_one(arguments):
    with LOCK:
        items[:] = [arguments["text"]]
    return said("kept")


def look_up(arguments):
    if FIXED:
        word = arguments["word"]
        pause()
        return said("meaning of " + word)
    current["word"] = arguments["word"]
    pause()
    return said("meaning of " + current["word"])


def look_up_deep(arguments):
    global deep
    deep += 1
    try:
        pause()
        # One count for all calls, where each call has a depth of its own.
        if not FIXED and deep > 2:
            return said("meaning of %s, cut short" % arguments["word"])
        return said("meaning of %s, as it is told" % arguments["word"])
    finally:
        deep -= 1


def wait_long(arguments):
    with contextlib.nullcontext() if FIXED else LOCK:
        time.sleep(0.4)
    return said("thought of " + arguments["word"])


def look_quickly(arguments):
    with contextlib.nullcontext() if FIXED else LOCK:
        return said("meaning of " + arguments["word"])


def look_up_once(arguments):
    if not FIXED and running > 1:
        time.sleep(3600)
    pause()
    return said("meaning of " + arguments["word"])


def take_both(arguments):
    order = (first, second) if FIXED or arguments["word"][-1:] < "n" else (second, first)
    with order[0]:
        pause()
        with order[1]:
            return said("took " + arguments["word"])


def count(_):
    global total
    with Guard():
        seen = total
        pause()
        total = seen + 1
        return said("visit number %d" % total)


def fragile(arguments):
    pause()
    if not FIXED and running > 3:
        os._exit(3)
    pause()
    return said("weighed " + arguments["word"])


def locked(arguments):
    if not FIXED and running > 2:
        return failed("the database is locked")
    pause()
    return said("found " + arguments["word"])


def limited(arguments):
    if running > 2:
        return failed("too many requests, try again later")
    pause()
    return said("found " + arguments["word"])


def clock(arguments):
    pause()
    mood = random.choice(["calm", "rough", "still"])
    return said("%s at %.6f: the sea is %s" % (arguments["word"], time.time(), mood))


def one_by_one(arguments):
    with LOCK:
        time.sleep(0.03)
        return said("read " + arguments["word"])


def session_note(arguments):
    """The notes of a process lie in a file of its own."""
    os.makedirs(HOME, exist_ok=True)
    path = os.path.join(HOME, "notes-" + OWN if FIXED else "notes")
    with LOCK, open(path, "a+") as file:
        if "add" in arguments:
            file.write(arguments["add"] + "\n")
            file.flush()
        file.seek(0)
        return said(json.dumps(file.read().split()))


def notes(arguments):
    with LOCK:
        if "add" in arguments:
            items.append((arguments["session"], arguments["add"]))
        return said(json.dumps([text for owner, text in items if not FIXED or owner == arguments["session"]]))


def board(arguments):
    with LOCK:
        if "add" in arguments:
            items.append((arguments["user"], arguments["add"]))
        return said(json.dumps(items))


by_session = {}


def session_notes(arguments):
    with LOCK:
        kept = by_session.setdefault(local.session if FIXED else "", [])
        if "add" in arguments:
            kept.append(arguments["add"])
        return said(json.dumps(kept))


def put_value(arguments):
    with LOCK:
        by_session.setdefault(local.session if FIXED else "", {})[arguments["key"]] = arguments["value"]
    return said("kept")


def get_value(arguments):
    with LOCK:
        kept = by_session.get(local.session if FIXED else "", {})
        return said(kept.get(arguments["key"], "nothing is kept under " + arguments["key"]))


def increment(_):
    count(_)
    return said("counted")


def show_count(_):
    return said("%d visits" % total)


def erase(_):
    with open(os.environ["MARKER"], "a") as file:
        file.write("erased\n")
    return said("erased")


def by_id(arguments):
    """The answer is handed over under the id of the request."""
    key = local.key if FIXED else local.key[1]
    pending[key] = "meaning of " + arguments["word"]
    pause()
    return said(pending[key])


WORD = {"word": {"type": "string", "minLength": 1, "maxLength": 40}}
TEXT = {"text": {"type": "string", "minLength": 1, "maxLength": 40}}
BOTH = {"title": WORD["word"], "body": WORD["word"]}


def words(run):
    return {"look_up": tool(run, "Looks a word up.", WORD, ["word"])}


def lists(write, read):
    return {
        "add_item": tool(write, "Adds an item to the list.", TEXT, ["text"]),
        "list_items": tool(read, "Lists the items.", {}, []),
    }


def pairs():
    return {
        "add_item": tool(add_both, "Adds an item to the list.", BOTH, ["title", "body"]),
        "list_items": tool(list_both, "Lists the items.", {}, []),
    }


def slow_and_quick():
    return {
        "ponder": tool(wait_long, "Thinks about a word.", WORD, ["word"]),
        "look_up": tool(look_quickly, "Looks a word up.", WORD, ["word"]),
    }


def jotter(about, run=session_notes):
    add = {"add": {"type": "string", "maxLength": 40}}
    return {"jot": tool(run, about, add, [])}


def owned(run, name, about):
    properties = {name: {"type": "string", "maxLength": 40}, "add": {"type": "string", "maxLength": 40}}
    return {"notes": tool(run, about, properties, [name])}


def values(about):
    short = {"type": "string", "minLength": 1, "maxLength": 40}
    return {
        "put_value": tool(put_value, "Keeps a value under a key. " + about, {"key": short, "value": short}, ["key", "value"]),
        "get_value": tool(get_value, "Gives the value that is kept under a key. " + about, {"key": short}, ["key"]),
    }


def counters():
    return {
        "increment": tool(increment, "Counts one more visit.", {}, []),
        "show_count": tool(show_count, "Tells how many visits were counted.", {}, []),
    }


def erasers():
    tidy = {**tool(erase, "Tidies up.", {}, []), "annotations": {"destructiveHint": True}}
    return {**words(one_by_one), "delete_everything": tool(erase, "Deletes everything.", {}, []), "tidy": tidy}


SERVERS = {
    "loses-writes": lists(add_to_file, list_file),
    "spoils-store": lists(add_in_pieces, list_file),
    "loses-writes-of-processes": lists(add_to_shared_file, list_shared_file),
    "doubles-writes": lists(add_and_try_again, list_items),
    "tears-writes": pairs(),
    "keeps-refused-writes": lists(add_and_refuse, list_items),
    "goes-back": lists(add_to_replicas, list_replica),
    "swaps-answers": words(look_up),
    "answers-otherwise": words(look_up_deep),
    "answers-twice": words(one_by_one),
    "drops-answers": words(look_up_once),
    "locks-up": words(take_both),
    "loses-counts": {"count_visit": tool(count, "Counts a visit.", {}, [])},
    "loses-increments": counters(),
    "dies-in-company": words(fragile),
    "fails-in-company": words(locked),
    "shares-notes-of-processes": jotter("Gives the notes of the current session, which are private to it.", session_note),
    "stalls-others": slow_and_quick(),
    "shows-notes": owned(notes, "session", "Gives the notes of a session. Notes are private to their session."),
    "leaks-sessions": jotter("Gives the notes of the current session, which are private to it."),
    "leaks-values": values("Values are private to the current session."),
    "turns-second-away": words(one_by_one),
    "collides-ids": words(by_id),
    # What looks like a flaw and is none.
    "limits-calls": words(limited),
    "tells-the-time": words(clock),
    "answers-one-by-one": words(one_by_one),
    "shows-the-latest": lists(add, list_latest),
    "keeps-one": lists(keep_one, list_items),
    "keeps-all": lists(add, list_items),
    "erases": erasers(),
    "one-jotter": jotter("Gives the notes of the team."),
    "shared-board": owned(board, "user", "A board that everybody reads. Gives all messages."),
}


class Together(Server):
    def run(self, chosen, arguments):
        global running
        with OUT:
            running += 1
        try:
            return chosen["run"](arguments)
        except OSError as error:
            return failed("it was not stored: %s" % error.strerror)
        finally:
            with OUT:
                running -= 1

    def work(self, message):
        super().work(message)
        if flawed("answers-twice") and running > 1:
            super().work(message)

    def begin_session(self):
        if NAME == "turns-second-away" and not FIXED and self.sessions:
            return None
        return super().begin_session()


Together(SERVERS[NAME]).serve()
