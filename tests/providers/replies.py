"""Compares the replies that are read, and the results that are written, with the official packages of the providers.

`replies.py PROGRAM SDISTS STREAMS`: the program is `fixture_replies`, the folder has the unpacked source distributions,
and the streams that were compared are written to the file."""

import copy
import importlib
import json
import pathlib
import sys
import warnings

from oracles import fixtures
from oracles.program import Program

ORACLES = ["anthropic_messages", "openai_responses", "openai_chat", "openrouter_chat", "gemini", "gemini_interactions",
           "bedrock", "mistral", "mistral_conversations", "cohere_chat", "ollama_chat"]
OUTCOMES = ["text", "texts", "blank", "object", "array", "number", "null", "image", "svg", "audio", "pdf", "zip",
            "error", "error image", "nothing", "role", "long"]
SHELL = {"type": "object", "properties": {"input": {"type": "string"}}}
NAMES = ["add", "find", {"namespace": "mail", "name": "send"}, {"name": "shell", "input": SHELL}]

# Names and arguments that the request with the results must not contain.
HOSTILE_NAMES = ["functions.add", "default_api:add", "functions.rm", "", "x" * 300, "é !", "1st", "."]
HOSTILE_ARGUMENTS = [{}, '{"a": 1}', '"{\\"a\\": 1}"', '{"a": nothing}', '{"a": 1', "[1]", "null", " ", "é", [1], 3, True, None]
STOP_REASONS = json.loads(pathlib.Path(__file__).with_name("stop_reasons.json").read_text())

warnings.simplefilter("ignore")
program = Program(sys.argv[1])
sdists = pathlib.Path(sys.argv[2])
counts = {"replies": 0, "streams": 0, "requests": 0, "breaks": 0, "skipped": 0}
failures = []
compared = []


def fail(*parts):
    failures.append(": ".join(str(part) for part in parts))


def said(answer):
    """Returns the calls and the text that were read."""
    if "error" in answer:
        return answer["error"], ""
    return [(call["id"], call["name"], call["arguments"]) for call in answer["calls"]], answer["text"]


def named(calls):
    """Returns the names of the calls, as names of tools that take JSON or a text."""
    return [{"name": name, "input": SHELL} if isinstance(arguments, str) else name for _, name, arguments in calls]


def without_arguments(calls):
    return [call[:2] for call in calls]


def compare(oracle, name, answer, expected):
    found = said(answer)
    # The official packages complete what was cut off; here the call does not run.
    if answer.get("stop") == "the reply is truncated":
        found, expected = (without_arguments(found[0]), found[1]), (without_arguments(expected[0]), expected[1])
    same = getattr(oracle, "same", lambda found, expected: found == expected)
    if not same(found, expected):
        fail(oracle.API, name, f"\n    ours  {str(found)[:500]}\n    theirs {str(expected)[:500]}")


def check_written(oracle, name, answer):
    """Checks what goes into the next request."""
    if "error" in answer:
        return
    messages = answer["messages"] + answer["results"]
    if not messages:
        return
    counts["requests"] += 1
    try:
        oracle.check_messages(messages)
    except Exception as error:
        fail(oracle.API, name, "rejected", f"{type(error).__name__} {error}"[:600])


def check_breaks(oracle, name, answer):
    """Checks that the oracle notices what is wrong."""
    messages = answer["messages"] + answer["results"]
    for number, (what, _) in enumerate(oracle.breaks(messages)):
        broken = copy.deepcopy(messages)
        list(oracle.breaks(broken))[number][1]()
        counts["breaks"] += 1
        try:
            oracle.check_messages(broken)
            fail(oracle.API, name, f"{what} was accepted")
        except Exception:
            pass


def run_reply(oracle, name, reply, names, outcomes):
    counts["replies"] += 1
    expected = oracle.read(reply)
    answer = program.ask(api=oracle.API, names=names or named(expected[0]), outcomes=outcomes, reply=reply)
    compare(oracle, name, answer, expected)
    check_written(oracle, name, answer)
    return answer


def run_stream(oracle, name, events):
    """A stream is read as the official package accumulates it."""
    try:
        reply = oracle.accumulate(events)
    except Exception as error:
        # The official packages reject some streams that are read here.
        counts["skipped"] += 1
        return print(f"  {name}: {type(error).__name__} {str(error)[:120]}")
    if reply is None:
        counts["skipped"] += 1
        return None
    counts["streams"] += 1
    expected = oracle.read(reply)
    compared.append({"api": oracle.API, "name": name, "names": named(expected[0]), "events": events})
    answer = program.ask(api=oracle.API, names=named(expected[0]), outcomes=["text", "object", "error"], events=events)
    compare(oracle, name, answer, expected)
    check_written(oracle, name, answer)
    for cut in range(1, len(events)):
        check_written(oracle, f"{name}, cut after {cut} events", program.ask(
            api=oracle.API, names=named(expected[0]), outcomes=["text"], events=events[:cut]))
    return None


def sdist(package):
    return next(path for path in sdists.glob(f"{package}-*") if path.is_dir())


def check_stop_reasons(oracle):
    """Checks that the reasons that `tests/tests/replies/stop_reasons.rs` reads are those of the package."""
    known = set(STOP_REASONS.get(oracle.API, {"reasons": []})["reasons"])
    declared = getattr(oracle, "STOP_REASONS", known)
    for reason in sorted(declared ^ known):
        fail(oracle.API, "stop_reasons.json", f"{reason} is only in one of the list and the package")


def run(oracle):
    check_stop_reasons(oracle)
    for name, reply in oracle.REPLIES.items():
        oracle.validate(reply)
        for outcome in OUTCOMES:
            answer = run_reply(oracle, f"{name}, {outcome}", reply, NAMES, [outcome, "text"])
        check_breaks(oracle, name, answer)
    for name in HOSTILE_NAMES:
        for arguments in HOSTILE_ARGUMENTS:
            answer = program.ask(api=oracle.API, names=NAMES, outcomes=["text"], reply=oracle.hostile(name, arguments))
            check_written(oracle, f"{name[:20]!r} {arguments!r}", answer)
            if len(answer["results"]) == 0:
                fail(oracle.API, name, arguments, "no result")
    for name, events in getattr(oracle, "STREAMS", {}).items():
        run_stream(oracle, name, events)
    replies = {}
    if oracle.API == "anthropic":
        for name, events in fixtures.anthropic_streams(sdist("anthropic")).items():
            run_stream(oracle, name, events)
        replies = fixtures.anthropic_replies(sdist("anthropic"))
    elif oracle.API == "responses":
        replies = fixtures.openai_replies(sdist("openai"), "response")
    elif oracle.API == "chat":
        replies = fixtures.openai_replies(sdist("openai"), "chat.completion")
    for name, reply in replies.items():
        run_reply(oracle, name, reply, None, ["text"])
    for name, exchange in fixtures.recorded(oracle.API):
        reply = exchange["reply"]
        try:
            if exchange["container"] == "json":
                run_reply(oracle, name, reply, None, ["text", "object", "error"])
            else:
                run_stream(oracle, name, [event for event in reply if not isinstance(event, str)])
        except ValueError as error:
            # The official types do not have all fields of all models and servers.
            counts["skipped"] += 1
            print(f"  {name}: {type(error).__name__} {' '.join(str(error).split())[:160]}")


for module in ORACLES:
    try:
        oracle = importlib.import_module(f"oracles.{module}")
    except ModuleNotFoundError as missing:
        if missing.name != f"oracles.{module}":
            raise
        continue
    if "unknown" in program.ask(api=oracle.API, names=[], reply={}):
        print(f"  {oracle.API} is not read yet")
        continue
    run(oracle)

pathlib.Path(sys.argv[3]).write_text(json.dumps(compared))
for failure in failures[:60]:
    print(failure)
summary = ", ".join(f"{number} {what}" for what, number in counts.items())
print(f"model replies against the official packages: {summary}, {len(failures)} failures")
sys.exit(bool(failures))
