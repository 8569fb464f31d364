"""a program of the same user that runs the agent in its own terminal"""

import grp
import os

from fixture.accounts import as_user
from fixture.broker import CALLER, REQUEST_ACCESS, Asking, fresh, secrets
from fixture.person import PASSWORD_PROMPT, WAITING, Agent, Terminal
from fixture.varlink import AGENT, APPS, Connection, attempt
from fixture.verdict import must, run, tries

ASK = [CALLER, APPS, REQUEST_ACCESS]


def gets_nothing(terminal, before, person=None):
    """Has alice's app request access. The attacker's terminal must not show the prompt; alice's, if she has one, must."""
    with Asking("alice", ASK) as asking:
        terminal.watch(3)
        must("asks to see" not in terminal.everything, f"it was shown the prompt: {terminal.text}")
        must(not secrets(terminal.everything), "it was shown contacts")
        if person:
            must(person.wait("asks to see your contacts"), "it was not shown to her either")
        else:
            must(not (asking.prompt or {}).get("shown"), f"the prompt counts as shown: {asking.prompt}")
    return before


@tries("types no password", "no prompt, no contact")
def no_password():
    fresh()
    with Terminal("alice", "contact-agent") as terminal:
        must(terminal.wait(PASSWORD_PROMPT, WAITING) == PASSWORD_PROMPT, "it serves without a password")
        return gets_nothing(terminal, "it asks for the password; until then no prompt and no contact")


@tries("types a wrong password", "no prompt, no contact")
def wrong_password():
    fresh()
    with Terminal("alice", "contact-agent") as terminal:
        terminal.wait(PASSWORD_PROMPT)
        terminal.type_password("password of bob")
        terminal.wait("AUTHENTICATION FAILED", PASSWORD_PROMPT, "not", timeout=20)
        must(WAITING not in terminal.text, "it serves after a wrong password")
        return gets_nothing(terminal, "refused; no prompt and no contact")


@tries("interrupts the password question", "no prompt, no contact")
def cancelled():
    fresh()
    with Terminal("alice", "contact-agent") as terminal:
        terminal.wait(PASSWORD_PROMPT)
        terminal.press("\x03")
        terminal.watch(2)
        must(WAITING not in terminal.text, "it serves after the password question was interrupted")
        return gets_nothing(terminal, "no prompt and no contact")


@tries("registers its own polkit agent", "polkit does not accept its answer")
def own_password_agent():
    fresh()
    # polkit accepts the result of a password check only from its own helper, not from an agent.
    with Terminal("alice", "sh -c 'pkttyagent --process $$ --fallback </dev/null & exec contact-agent'") as terminal:
        terminal.watch(3)
        must(WAITING not in terminal.text, "it serves")
        return gets_nothing(terminal, "no prompt and no contact")


@tries("waits until the person has authenticated elsewhere, then starts the agent", "it is asked for the password too")
def second_terminal():
    fresh()
    with Agent("alice") as person, Terminal("alice", "contact-agent") as terminal:
        must(terminal.wait(PASSWORD_PROMPT, WAITING) == PASSWORD_PROMPT, "it serves because of the password in the other terminal")
        return gets_nothing(terminal, "asked for the password again", person)


@tries("opens the agent's socket directly, as alice", "permission denied")
def door():
    got = as_user("alice", lambda: attempt(Connection, AGENT)[0])
    must(got == "permission denied", str(got))
    return got


@tries("opens it with the agent's group, which this test gives it", "not accepted as an agent")
def with_group():
    fresh()
    group = grp.getgrnam("contact-agent").gr_gid

    def serve():
        return attempt(lambda: Connection(AGENT, 10).call("io.contactbroker.Agent.Serve", {}, more=True))

    error, answer = as_user("alice", serve, group=group)
    must(error is not None and "agent" not in (answer or {}), f"it serves: {answer}")
    # Nor can it answer with an invented cookie and token.
    names = {"agent": "0" * 32, "cookie": "1" * 32}
    for method, parameters in (
            ("Answer", names | {"level": "full"}), ("Search", names | {"query": ""}), ("Show", names | {"identifier": "2" * 32})):
        refused = as_user("alice", lambda: attempt(
            lambda: Connection(AGENT, 10).call("io.contactbroker.Agent." + method, parameters)), group=group)
        must(refused[0] == "NotAnAgent", f"{method}: {refused}")
    return f"{error} {(answer or {}).get('reason', '')}".strip()


@tries("opens it with the agent's group only as a supplementary group, which this test gives it", "connection closed")
def with_supplementary_group():
    fresh()
    group = grp.getgrnam("contact-agent").gr_gid

    def serve():
        return os.getegid(), attempt(lambda: Connection(AGENT, 10).call("io.contactbroker.Agent.Serve", {}, more=True))[0]

    # The file mode admits both. What differs is only which group is the process's own.
    own = as_user("alice", serve, group=group)
    must(own[0] == group and own[1] != "connection closed", f"the same process with the group as its own: {own}")
    got = as_user("alice", serve, extra_groups=[group])
    must(got[0] != group and got[1] == "connection closed", str(got))
    return got[1]


@tries("is bob, with his own agent and password", "only bob's prompts, never alice's")
def bobs_agent():
    fresh()
    with Agent("bob") as terminal:
        return gets_nothing(terminal, "alice's prompt was not shown, and does not count as shown")


run()
