"""Servers of dev/db, for scripts."""
import contextlib
import os
import subprocess
import sys

DEV_DB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../dev/db")


@contextlib.contextmanager
def server(name):
    """Its URL, while it runs. Ends the script with 5 where it cannot be had: dev/db then says how to get it, as no test builds a server."""
    up = subprocess.run([DEV_DB, "up", name], env={"ASSAY_DB_BUILD": "0", **os.environ}, stdout=subprocess.PIPE, text=True)
    try:
        if up.returncode == 5:
            print(f"skipped: dev/db cannot have '{name}' here")
            sys.exit(5)
        if up.returncode != 0:
            sys.exit(f"dev/db up {name}: {up.returncode}")
        yield up.stdout.split()[-1]
    finally:
        if up.returncode != 5:
            subprocess.run([DEV_DB, "down", name])
