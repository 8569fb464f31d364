"""How an adversary says what it tried and what it got.

Each attempt is a function that returns what it got, in words, and raises `Broke` where that is more than it should be.
"""

import json
import sys
import traceback

from house.polkit import hanging


# Characters of what one got that stand in the table.
MOST = 400


class Broke(Exception):
    """It got what it must not get."""


class NotBuilt(Exception):
    """What it attacks is not there yet. Counts as a failure: nothing was shown."""


class Skipped(Exception):
    """This machine cannot play it; the words say why."""


attempts = []


def tries(words, expect):
    """Marks an attempt: what it tries, and what it should get."""

    def mark(function):
        attempts.append((words, expect, function))
        return function

    return mark


def must(condition, got):
    if not condition:
        raise Broke(got)


def run():
    """Makes all attempts of the program, each on its own: what one does wrong leaves the others to be tried."""
    name = " ".join((sys.modules["__main__"].__doc__ or "").split("\n", 1)[0].split())
    for words, expect, function in attempts:
        try:
            got, outcome = function(), "held"
        except Broke as broke:
            got, outcome = f"expected: {expect}. Got: {broke}", "BROKE"
        except NotBuilt as missing:
            got, outcome = "not built yet: " + str(missing), "NOT BUILT"
        except Skipped as skipped:
            got, outcome = str(skipped), "skipped"
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            got, outcome = f"{type(error).__name__}: {error} ({frame.name}:{frame.lineno})", "FAILED"
            traceback.print_exc()
        if ill := hanging():
            got, outcome = f"it left polkitd hanging ({ill}); else: {got}", "BROKE"
        got = " ".join(str(got).split())
        if len(got) > MOST:
            print(got, file=sys.stderr)
            got = got[:MOST] + "…"
        print(json.dumps({"adversary": name, "tried": words, "got": got, "outcome": outcome}), flush=True)
