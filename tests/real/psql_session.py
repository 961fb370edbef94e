"""A connection of psql that is told statement by statement what to do, and waits where it is to wait."""
import subprocess


class Session:
    def __init__(self, url, *options):
        self.psql = subprocess.Popen(["psql", "-X", "-qAt", *options, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, bufsize=1)

    def send(self, sql):
        self.psql.stdin.write(sql + ";\n\\echo =done=\n")

    def answer(self):
        lines = iter(lambda: self.psql.stdout.readline().rstrip("\n"), "=done=")
        return " ".join(lines)

    def __call__(self, sql):
        self.send(sql)
        return self.answer()

    def kill(self):
        self.psql.kill()
        self.psql.wait()

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()
        self.psql.stdout.close()
