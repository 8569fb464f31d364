"""How an adversary reports what it tried and what it got.

Each attempt is a function. It returns what it got, in words, and raises `Broke` if that is more than it should get.
"""

import json
import sys
import traceback

from house.polkit import hanging


# Maximum number of characters of a result in the table.
MOST = 400


class Broke(Exception):
    """The attempt got what it must not get."""


class NotBuilt(Exception):
    """The target of the attack does not exist. Counts as a failure, because nothing was tested."""


class Skipped(Exception):
    """This machine cannot run the attempt, for the given reason."""


attempts = []


def tries(words, expect):
    """Marks a function as an attempt: what it tries, and what it should get."""

    def mark(function):
        attempts.append((words, expect, function))
        return function

    return mark


def must(condition, got):
    if not condition:
        raise Broke(got)


def run():
    """Runs all attempts of the program. A failed attempt does not prevent the others."""
    name = " ".join((sys.modules["__main__"].__doc__ or "").split("\n", 1)[0].split())
    for words, expect, function in attempts:
        try:
            got, outcome = function(), "held"
        except Broke as broke:
            got, outcome = f"expected: {expect}. Got: {broke}", "BROKE"
        except NotBuilt as missing:
            got, outcome = "target missing: " + str(missing), "NOT BUILT"
        except Skipped as skipped:
            got, outcome = str(skipped), "skipped"
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            got, outcome = f"{type(error).__name__}: {error} ({frame.name}:{frame.lineno})", "FAILED"
            traceback.print_exc()
        if ill := hanging():
            got, outcome = f"it left polkitd hanging ({ill}); otherwise: {got}", "BROKE"
        got = " ".join(str(got).split())
        if len(got) > MOST:
            print(got, file=sys.stderr)
            got = got[:MOST] + "…"
        print(json.dumps({"adversary": name, "tried": words, "got": got, "outcome": outcome}), flush=True)
