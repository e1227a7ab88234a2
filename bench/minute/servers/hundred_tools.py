"""A server with 100 tools, all of which work: does every one of them get its turn?"""

from small_server import serve, tool

TEXT = {"type": "string", "minLength": 1, "maxLength": 200, "description": "A text"}
NUMBER = {"type": "integer", "minimum": 0, "maximum": 1000, "description": "How many"}

KINDS = [
    ("count", "Counts the characters of a text", {"text": TEXT}, lambda given: str(len(given["text"]))),
    ("double", "Doubles a number", {"number": NUMBER}, lambda given: str(2 * int(given["number"]))),
    ("cut", "Takes the beginning of a text", {"text": TEXT, "number": NUMBER},
     lambda given: given["text"][: int(given["number"])]),
    ("list", "Lists the entries of a shelf", {}, lambda given: "one, two, three"),
]

serve("hundred-tools", [
    tool(f"{name}_{number:02}", f"{about}, in department {number}", properties, act)
    for number in range(25)
    for name, about, properties, act in KINDS
])
