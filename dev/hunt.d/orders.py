"""The order of versions that reads before writes tell: who reads a version of a key and writes the key writes a later one. The levels `pl-*`
want it stated. Of two transactions that read one version and each wrote the next, both orders are a lost update, which `pl-cs` and what is
above it forbid: for them such two are stated as they ended. At `pl-2` either order may be right, and nothing is stated from there on."""
import heapq
import json
from collections import defaultdict


def state(history, claim):
    """Appends the orders to the history."""
    followers, read = defaultdict(lambda: defaultdict(list)), set()  # of each key: the version read, and what was then written last
    transactions = [line for line in map(json.loads, open(history)) if "ops" in line]
    for transaction in transactions:
        if transaction["status"] == "committed":
            read |= {(op[1], op[2]) for op in transaction["ops"] if op[0] == "r"}
    for transaction in transactions:
        before, wrote = {}, {}
        for op in transaction["ops"]:
            if op[0] == "r" and op[1] not in wrote:
                before.setdefault(op[1], op[2])
            elif op[0] == "w":
                wrote[op[1]] = op[2]
        for key, value in wrote.items():
            counts = transaction["status"] == "committed" or transaction["status"] == "unknown" and (key, value) in read
            if counts and key in before:
                followers[key][before[key]].append((transaction["end"][0], value))
    with open(history, "a") as file:
        for key, next_of in followers.items():
            order, open_ends = [], [(0, None)]
            while open_ends:
                _, value = heapq.heappop(open_ends)
                order.append(value)
                found = next_of.get(value, [])
                if len(found) > 1 and claim == "pl-2":
                    break
                for one in found:
                    heapq.heappush(open_ends, one)
            if len(order) > 2:
                file.write(json.dumps({"key": key, "order": order[1:]}) + "\n")
