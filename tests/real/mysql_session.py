"""For scripts in plain SQL: a server of dev/db that speaks MySQL's protocol, and connections to it by MariaDB's client."""
import contextlib
import os
import subprocess
import sys


class Session:
    def __init__(self, url):
        address, database = url.removeprefix("mysql://").split("/")
        user, host = address.split("@")
        host, port = host.split(":")
        self.client = subprocess.Popen(
            ["mariadb", "--no-defaults", "-u", user, "-h", host, "-P", port, "-N", "-B", "--unbuffered", "--force", database],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)

    def __call__(self, sql):
        """What the server answers, the lines joined by spaces."""
        self.client.stdin.write(sql + "; SELECT '=done=';\n")
        return " ".join(iter(lambda: self.client.stdout.readline().rstrip("\n"), "=done="))


@contextlib.contextmanager
def server(name):
    """Its URL, while it runs. Ends the script with 5 where it cannot be had."""
    dev_db = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../dev/db")
    up = subprocess.run([dev_db, "up", name], stdout=subprocess.PIPE, text=True)
    if up.returncode != 0:
        print(f"dev/db cannot have '{name}' here")
        sys.exit(5)
    try:
        yield up.stdout.split()[-1]
    finally:
        subprocess.run([dev_db, "down", name])
