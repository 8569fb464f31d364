"""Prints what libebook-contacts (GNOME's Evolution) reads from a file of vCards, as one line of JSON per card."""
import json
import sys

import gi

gi.require_version("EBookContacts", "1.2")
from gi.repository import EBookContacts  # noqa: E402

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    text = file.read()
for piece in text.split("BEGIN:VCARD\r\n")[1:]:
    card = EBookContacts.VCard.new_from_string("BEGIN:VCARD\r\n" + piece)
    found = {}
    for attribute in card.get_attributes():
        found.setdefault(attribute.get_name().upper(), []).append(list(attribute.get_values() or []))

    def texts(name):
        return [value[0] if value else "" for value in found.get(name, [])]

    name = found.get("N", [[]])[0]
    print(json.dumps({
        "FN": texts("FN")[:1],
        "N": (name + [""] * 5)[:5],
        "TEL": texts("TEL"),
        "EMAIL": texts("EMAIL"),
        "ADR": [(value + [""] * 7)[:7] for value in found.get("ADR", [])],
        "ORG": found.get("ORG", [[]])[0],
        "BDAY": texts("BDAY")[:1],
        "NOTE": texts("NOTE")[:1],
    }))
