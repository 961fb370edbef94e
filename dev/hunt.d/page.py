"""docs/databases/matrix.json, and the page that is made of it."""
import json


def load(path):
    return json.loads(path.read_text()) if path.exists() else []


def store(path, cell):
    """Puts a cell in the place of the one that it repeats."""
    before = {(one["store"], one["mode"]): one for one in load(path)}
    old = before.get((cell["store"], cell["mode"]), {})
    cells = list({**before, (cell["store"], cell["mode"]): {**({"killed": old["killed"]} if "killed" in old else {}), **cell}}.values())
    cells.sort(key=lambda one: (one["store"], one["mode"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(one) for one in cells) + "\n]\n")


def violated(path, entry):
    """The levels that the store broke without kills, as far as it was measured."""
    return next((cell["violated"] for cell in load(path) if (cell["store"], cell["mode"]) == (entry["store"], entry["mode"])), {})


def killed(path, entry, outcome):
    """Notes in the cell of a store what came of killing it; it must have been measured before."""
    for cell in load(path):
        if (cell["store"], cell["mode"]) == (entry["store"], entry["mode"]):
            store(path, {**cell, "killed": outcome})


HEAD = """# The matrix: what stores claim, and what was measured

Embedded stores from package registries, each driven with transactions by threads of one process and checked by `assay check`.
`dev/hunt` makes this page and [matrix.json](matrix.json); [how it works, and how to add a store](../tutorials/storage-engine.md).
Where a row speaks of kills, the process was killed with `kill -9` while transactions ran, and the store, set to be durable, was opened again. Every
acknowledged commit must then be seen, at `strict-serializable` or `strong-si`.
A clean cell says how many transactions were looked at; it proves nothing about the next one.

"""


def claim_cell(entry):
    return f"`{entry['claim']}`: {entry['says']}" + (f" ([source]({entry['link']}))" if entry.get("link") else "")


def measured(cell):
    claim = cell["claim"]
    strongest = ", ".join(f"`{level}` in {count:,}" for level, count in cell["strongest"].items())
    text = ""
    if claim in cell["violated"]:
        what = cell["violated"][claim]
        text = (f"**`{claim}` violated**: {', '.join(what['anomalies'])}, first seen after {what['seconds']:g} s and {what['transactions']:,} "
                "transactions. " + ("Not violated: " if strongest else ""))
    text += strongest + " transactions" if strongest else "No level that was decided held"
    if cell["undecided"]:
        text += f"; {cell['undecided']} of {cell['rounds']} rounds undecided"
    if cell["errors"]:
        text += f"; {sum(cell['errors'].values()):,} errors, such as " + next(iter(cell["errors"])).split(":")[0].split(".")[-1]
    if "killed" in cell:
        text += after_kills(cell["killed"])
    return text


def after_kills(outcome):
    text = f"; after {outcome['kills']:,} kills "
    if outcome["lost"] or outcome["not reopened"]:
        return text + f"**something was lost in {outcome['lost']} histories**, not opened again {outcome['not reopened']} times"
    notes = [f"nothing lost of {outcome['acknowledged']:,} acknowledged"] if outcome["acknowledged"] else []
    if outcome["not isolated"]:
        notes.append(f"{outcome['not isolated']} violated by transactions between two kills")
    if outcome["undecided"]:
        notes.append(f"{outcome['undecided']} undecided")
    return text + ", ".join(notes)


ENOUGH = 100_000  # committed transactions whose claim was decided, from which on a clean cell is worth its line


def enough(cell):
    return cell["decided"] >= ENOUGH


def write(folder, entries):
    cells = load(folder / "matrix.json")
    if not cells:
        return
    known = {(entry["store"], entry["mode"]): entry for entry in entries}
    rows = [(known[cell["store"], cell["mode"]], cell) for cell in cells if (cell["store"], cell["mode"]) in known]
    broken = [row for row in rows if row[1]["claim"] in row[1]["violated"]]
    text = HEAD + f"{len({cell['store'] for _, cell in rows})} stores in {len(rows)} modes, {sum(cell['transactions'] for _, cell in rows):,} committed transactions. "
    text += f"{len(broken)} modes broke what they claim.\n"
    kept = [row for row in rows if row not in broken]
    parts = (("Claims that were broken", broken), (f"Claims that were not broken in {ENOUGH:,} transactions", [row for row in kept if enough(row[1])]),
             ("Claims that were not broken in fewer", [row for row in kept if not enough(row[1])]))
    for title, part in parts:
        if not part:
            continue
        text += f"\n## {title}\n\n| store, mode | version | claim | measured: strongest level not violated | date | certificate |\n|---|---|---|---|---|---|\n"
        for entry, cell in part:
            name = f"[{cell['store']}](../findings/{entry['finding']}.md)" if entry.get("finding") else cell["store"]
            text += (f"| {name}, {cell['mode'] or 'default'} | {cell['version']} | {claim_cell(entry)} | {measured(cell)} | {cell['date']} | "
                     f"{'`' + cell['certificate'] + '`' if cell.get('certificate') else ''} |\n")
    (folder / "matrix.md").write_text(text)
