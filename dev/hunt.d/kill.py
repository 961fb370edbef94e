"""Kills the process that holds a store while transactions run, starts it again on the same folder, and goes on with the same keys: what was
acknowledged must be there, and what was in flight may be.

A history is made of parts, one for each life of the process. What was being committed when it was killed is unknown: its line says pending.
"""
import json
import queue
import time

import plans

LIVES = 5  # of the process, in a history
LONGEST = 1.5  # seconds from the plan to the kill


def level(entry):
    """At which an acknowledged commit that is gone is a violation: reads that come later must see it."""
    return "strict-serializable" if entry["claim"].endswith("serializable") else "strong-si"


def part(path, life, whole):
    """Appends what a life of the process left, in sessions of its own."""
    committed = unknown = 0
    status = {}
    for line in path.read_text().split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue  # the last line of a process that was killed in the middle of it
        if "txn" not in record:
            continue
        record["session"] += 100 * life
        record["txn"] = f"{life}-{record['txn']}"
        status[record["txn"]] = record["status"]
        whole.write(json.dumps(record) + "\n")
    committed += sum(one == "committed" for one in status.values())
    unknown += sum(one in ("pending", "unknown") for one in status.values())
    return committed, unknown


def history(start, entry, folder, rng, number, patience):
    """Writes a history; its path, and how many were acknowledged and how many unknown. `start` gives a process that has said hello, or None."""
    data, path, values = folder / f"data-{number}", folder / f"{number}.jsonl", []
    data.mkdir()
    committed = unknown = 0
    with open(path, "w") as whole:
        whole.write('{"assay":1}\n')
        for life in range(LIVES + 1):
            process, hello = start(data)
            if hello is None:
                return None, committed, unknown
            plan, lines = folder / "plan", folder / "part.jsonl"
            lines.write_text("")
            if life == LIVES:  # everything that is left
                plan.write_text("0 q " + " ".join(f"r:0:{key}" for key in range(len(values))) + " c\n")
            else:
                plans.write(plan, rng, 0, hello, entry, values)
            process.ask(plan, lines)
            try:
                process.answer(patience if life == LIVES else rng.uniform(0.01, LONGEST))
            except queue.Empty:
                pass
            process.kill()
            one, other = part(lines, life, whole)
            committed, unknown = committed + one, unknown + other
    return path, committed, unknown


def lives(history):
    """Of the process, in which the transactions of a history ran."""
    records = [json.loads(line) for line in history.read_text().splitlines()]
    return {record["txn"].split("-")[0] for record in records if "txn" in record}


def hunt(start, check, shrink, entry, options, folder, rng, isolated):
    """The outcome for the matrix: kills, what was acknowledged in histories without a violation, unknown, and how many histories show a loss. A violation
    among transactions of one life of the process, by the smallest part that `shrink` finds, is one of isolation and says nothing of loss; so is any of a store that is not `isolated` at this
    level, that is, breaks it without kills."""
    outcome = {"level": level(entry), "kills": 0, "acknowledged": 0, "unknown": 0, "lost": 0, "not isolated": 0, "undecided": 0, "not reopened": 0}
    began, number = time.monotonic(), 0
    while time.monotonic() - began < options.time and outcome["kills"] < options.kills and not (options.until_lost and outcome["lost"]):
        path, committed, unknown = history(start, entry, folder, rng, number, options.patience)
        number += 1
        outcome["kills"] += LIVES
        if path is None:
            outcome["not reopened"] += 1
            print(f"  does not open again: {folder / f'data-{number - 1}'}", flush=True)
            continue
        verdict = check(path, [outcome["level"]])["levels"][outcome["level"]]["verdict"]
        if verdict == "satisfied":
            outcome["acknowledged"] += committed
            outcome["unknown"] += unknown
        outcome["undecided"] += verdict == "unknown"
        if verdict != "violated":
            path.unlink()
            continue
        smallest = shrink(path, outcome["level"])
        lost = isolated and (smallest is None or len(lives(smallest)) > 1)
        outcome["lost" if lost else "not isolated"] += 1
        print(f"  {'lost' if lost else 'not isolated'}, after {outcome['kills']} kills: {path}", flush=True)
    return outcome
