"""That a rival which says ok to everything is found out, and that what shows it is kept.

    run_test.py ASSAY
"""
import pathlib
import subprocess
import sys
import tempfile

RUN = pathlib.Path(__file__).with_name("run")


def main():
    assay = pathlib.Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as work:
        folder, keep = pathlib.Path(work) / "rivals", pathlib.Path(work) / "keep"
        folder.mkdir()

        def run():
            return subprocess.run([sys.executable, RUN, folder, "--assay", assay, "--quick", "--pairs", "1", "--keep", keep],
                                  capture_output=True, text=True)

        nobody = run()
        assert nobody.returncode == 4 and "no rival" in nobody.stderr, nobody
        says_ok = folder / "porcupine"
        says_ok.write_text("#!/bin/sh\necho ok\n")
        says_ok.chmod(0o755)
        found = run()
        print(found.stdout, found.stderr)
        assert found.returncode == 1
        assert found.stdout.count("**differ**") == 1  # of the history with a fault, and not of those without
        [kept] = keep.iterdir()
        [history] = kept.glob("*.jsonl")
        subprocess.run([assay, "verify", kept / "certificate.json", history], check=True)


if __name__ == "__main__":
    main()
