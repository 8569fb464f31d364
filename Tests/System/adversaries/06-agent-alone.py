"""a program of the same user that runs the agent in a terminal of its own"""

import grp

from house.accounts import as_user
from house.broker import CALLER, REQUEST_ACCESS, Asking, fresh, secrets
from house.person import PASSWORD_PROMPT, WAITING, Agent, Terminal
from house.varlink import AGENT, APPS, Connection, attempt
from house.verdict import must, run, tries

ASK = [CALLER, APPS, REQUEST_ACCESS]


def gets_nothing(terminal, before, person=None):
    """An app of alice's asks meanwhile: nothing of it may be seen in the attacker's terminal; she has another, or none."""
    with Asking("alice", ASK) as asking:
        terminal.watch(3)
        must("asks to see" not in terminal.everything, f"it was shown the prompt: {terminal.text}")
        must(not secrets(terminal.everything), "it was shown contacts")
        if person:
            must(person.wait("asks to see your contacts"), "it was not shown to her either")
        else:
            must(not (asking.prompt or {}).get("shown"), f"the prompt counts as shown: {asking.prompt}")
    return before


@tries("without the password: types nothing", "no prompt, no contact")
def no_password():
    fresh()
    with Terminal("alice", "contact-agent") as terminal:
        must(terminal.wait(PASSWORD_PROMPT, WAITING) == PASSWORD_PROMPT, "it serves without a password")
        return gets_nothing(terminal, "the password is asked for; until then no prompt and no contact")


@tries("without the password: guesses", "no prompt, no contact")
def wrong_password():
    fresh()
    with Terminal("alice", "contact-agent") as terminal:
        terminal.wait(PASSWORD_PROMPT)
        terminal.type_password("password of bob")
        terminal.wait("AUTHENTICATION FAILED", PASSWORD_PROMPT, "not", timeout=20)
        must(WAITING not in terminal.text, "it serves after a wrong password")
        return gets_nothing(terminal, "refused, and still no prompt and no contact")


@tries("without the password: interrupts the question for it", "no prompt, no contact")
def cancelled():
    fresh()
    with Terminal("alice", "contact-agent") as terminal:
        terminal.wait(PASSWORD_PROMPT)
        terminal.press("\x03")
        terminal.watch(2)
        must(WAITING not in terminal.text, "it serves after the question was interrupted")
        return gets_nothing(terminal, "no prompt and no contact")


@tries("registers an agent for passwords of its own that always says yes", "polkit does not believe it")
def own_password_agent():
    fresh()
    # A program that answers polkit's question without asking anybody: only polkit's own helper can say that a password was right.
    with Terminal("alice", "sh -c 'pkttyagent --process $$ --fallback </dev/null & exec contact-agent'") as terminal:
        terminal.watch(3)
        must(WAITING not in terminal.text, "it serves")
        return gets_nothing(terminal, "no prompt and no contact")


@tries("waits for the person to prove themselves elsewhere, then starts its own", "asked for the password itself")
def second_terminal():
    fresh()
    with Agent("alice") as person, Terminal("alice", "contact-agent") as terminal:
        must(terminal.wait(PASSWORD_PROMPT, WAITING) == PASSWORD_PROMPT, "it serves by the other terminal's password")
        return gets_nothing(terminal, "asked for the password, as if nobody had proved anything", person)


@tries("opens the agent's door by itself, as alice", "permission denied")
def door():
    got = as_user("alice", lambda: attempt(Connection, AGENT)[0])
    must(got == "permission denied", str(got))
    return got


@tries("opens it with the agent's group, which root lent it for once", "still no agent")
def with_group():
    fresh()
    group = grp.getgrnam("contact-agent").gr_gid

    def serve():
        return attempt(lambda: Connection(AGENT, 10).call("io.contactbroker.Agent.Serve", {}, more=True))

    error, answer = as_user("alice", serve, group=group)
    must(error is not None and "agent" not in (answer or {}), f"it serves: {answer}")
    # Nor does it answer without being one, by a cookie and a token of its own making.
    names = {"agent": "0" * 32, "cookie": "1" * 32}
    for method, parameters in (
            ("Answer", names | {"level": "full"}), ("Search", names | {"query": ""}), ("Show", names | {"identifier": "2" * 32})):
        refused = as_user("alice", lambda: attempt(
            lambda: Connection(AGENT, 10).call("io.contactbroker.Agent." + method, parameters)), group=group)
        must(refused[0] == "NotAnAgent", f"{method}: {refused}")
    return f"{error} {(answer or {}).get('reason', '')}".strip()


@tries("is bob, with his own agent and his own password", "sees bob's questions, never alice's")
def bobs_agent():
    fresh()
    with Agent("bob") as terminal:
        return gets_nothing(terminal, "alice's question was not shown, nor did it count as shown")


run()
