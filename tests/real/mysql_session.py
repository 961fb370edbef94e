"""For scripts in plain SQL: connections to a server that speaks MySQL's protocol by MariaDB's client."""
import subprocess


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
