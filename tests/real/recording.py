"""A recording by `assay record`, for scripts."""
import json
import os
import re
import signal
import subprocess


class Recording:
    """Of what is done within; `summary` is what it prints in the end."""

    def __init__(self, assay, url, folder, *flags):
        self.assay, self.url, self.history, self.flags = assay, url, os.path.join(folder, "app.jsonl"), flags

    def __enter__(self):
        self.process = subprocess.Popen([self.assay, "record", "--database", self.url, "--listen", "127.0.0.1:0", "--force",
                                         "--history", self.history, *self.flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.first = first = self.process.stderr.readline()
        found = re.search(r"postgresql://(\S+?),", first)
        if not found:
            raise SystemExit(f"record does not listen: {first}{self.process.stderr.read()}")
        self.proxy = f"postgresql://postgres@{found[1]}"
        return self

    def __exit__(self, *failed):
        if not self.flags:
            self.process.send_signal(signal.SIGTERM)
        self.summary, self.notes = self.process.communicate()  # closes its standard input
        if self.process.returncode != 0 and not self.flags and not failed[0]:
            raise SystemExit(f"record ended with {self.process.returncode}: {self.notes}")

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def verdicts(self, *levels):
        """The outcome of each level, and the anomaly of those that are violated."""
        done = subprocess.run([self.assay, "check", self.history, "--json", *(f"--level={level}" for level in levels)],
                              stdout=subprocess.PIPE, text=True)
        levels = json.loads(done.stdout)["levels"]
        return {level: of.get("anomaly", of["verdict"]) for level, of in levels.items()}

    def txns(self):
        with open(self.history) as lines:
            return {t["txn"]: t for t in map(json.loads, lines) if "txn" in t}
