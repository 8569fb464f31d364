"""Prints what python-vobject reads from a file of vCards, as one line of JSON per card."""
import json
import sys

import vobject


def one(value):
    return ",".join(value) if isinstance(value, list) else value


def values(card, name):
    return [each.value for each in card.contents.get(name, [])]


with open(sys.argv[1], encoding="utf-8", newline="") as file:
    for card in vobject.readComponents(file.read()):
        names = values(card, "n")
        name = names[0] if names else vobject.vcard.Name()
        print(json.dumps({
            "FN": values(card, "fn")[:1],
            "N": [one(part) for part in (name.family, name.given, name.additional, name.prefix, name.suffix)],
            "TEL": values(card, "tel"),
            "EMAIL": values(card, "email"),
            "ADR": [
                [one(part) for part in (a.box, a.extended, a.street, a.city, a.region, a.code, a.country)]
                for a in values(card, "adr")
            ],
            "ORG": values(card, "org")[0] if values(card, "org") else [],
            "BDAY": values(card, "bday")[:1],
            "NOTE": values(card, "note")[:1],
        }))
