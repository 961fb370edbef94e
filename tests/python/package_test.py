"""The Python package from outside: what it makes of histories, and what it says of mistakes."""

import gc
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
from decimal import Decimal

import assay
from assay import Outcome

WRITE_SKEW = "initial 0\ns1: { r(x,0) r(y,0) w(x,1) }\ns2: { r(x,0) r(y,0) w(y,1) }\n"


class Checking(unittest.TestCase):
    def setUp(self):
        self.history = assay.History.parse(WRITE_SKEW, "skew")
        self.result = assay.check(self.history, levels="all")

    def test_every_level_is_decided_when_all_are_asked_for(self):
        self.assertEqual([v.level for v in self.result], [level.name for level in assay.levels() if level.name != "mixed"])
        self.assertEqual(len(self.result), 25)
        self.assertEqual(set(self.result.satisfied + self.result.violated + self.result.unknown),
                         {v.level for v in self.result})

    def test_a_result_is_as_true_as_its_verdicts(self):
        self.assertFalse(assay.check(self.history, "serializable"))
        self.assertTrue(assay.check(self.history, "session-si"))
        self.assertFalse(assay.check(self.history, ["session-si", "serializable"]))
        self.assertFalse(assay.check(self.history, "strict-serializable"))  # violated, or unknown without times
        self.assertFalse(assay.check(self.history, "session-si", time=1e-9))  # unknown
        one = assay.History.parse("s1: { w(x,1) } { r(x,1) }")
        self.assertTrue(assay.check(one))  # levels that need times mean nothing for it,
        self.assertFalse(assay.check(one, "strict-serializable"))  # unless one is asked for
        self.assertFalse(assay.check(assay.History.parse("s1: { w(x,1) }")))  # nothing was observed
        self.assertTrue(self.result["session-si"])
        self.assertFalse(self.result["serializable"])

    def test_a_violation_is_explained(self):
        verdict = self.result["serializable"]
        self.assertIs(verdict.outcome, Outcome.VIOLATED)
        self.assertEqual(verdict.anomaly, "write-skew")
        self.assertEqual(verdict.transactions, ("s1-0", "s2-0"))
        self.assertIn("s1-0", verdict.explanation)
        self.assertEqual(verdict.cause, "")

    def test_what_is_unknown_has_a_cause(self):
        verdict = self.result["strict-serializable"]
        self.assertIn(verdict.outcome, (Outcome.VIOLATED, Outcome.UNKNOWN))
        stopped = assay.check(self.history, "serializable", time=1e-9)["serializable"]
        self.assertEqual((stopped.outcome, stopped.cause), (Outcome.UNKNOWN, "time"))
        self.assertIn("time limit", stopped.reason)

    def test_the_summary_counts(self):
        summary = self.result.summary
        self.assertEqual((summary.transactions, summary.operations, summary.committed), (2, 6, 2))
        self.assertEqual(summary.format, "hist")
        self.assertEqual(len(summary.hash), 32)

    def test_reports(self):
        self.assertIn("write-skew", str(self.result))
        self.assertTrue(self.result.report("sarif").startswith("{"))
        with self.assertRaisesRegex(assay.UsageError, "unknown report 'tex'; expected one of text"):
            self.result.report("tex")
        cell = self.result._repr_html_()
        # The conflict, and then the report; what is in the frame cannot leave its attribute.
        self.assertRegex(cell, r'^<img alt="the conflict" style="[^"]*" src="data:image/svg\+xml;base64,[A-Za-z0-9+/=]*"><iframe srcdoc="')
        self.assertEqual(cell.count('"'), 12)
        self.assertTrue(assay.check(self.history, "causal")._repr_html_().startswith("<iframe srcdoc="))

    def test_certificates_are_verified(self):
        proof = self.result.certificates()
        assay.verify(assay.History.parse(WRITE_SKEW), proof)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "skew.hist"
            path.write_text(WRITE_SKEW)
            assay.verify(path, proof)
        with self.assertRaises(assay.Refused):
            assay.verify(self.history, proof.replace(b'"key":"x"', b'"key":"y"', 1))
        with self.assertRaises(assay.BadInput):
            assay.verify(assay.History.parse("s1: { w(z,1) }"), proof)

    def test_a_level_that_was_not_asked_for(self):
        result = assay.check(self.history, ["adya"])
        with self.assertRaisesRegex(KeyError, "no verdict on 'serializable'; expected one of pl-1"):
            result["serializable"]
        with self.assertRaisesRegex(assay.UsageError, "unknown level 'serialisable'; expected one of"):
            assay.check(self.history, "serialisable")

    def test_threads_share_a_history(self):
        found = []
        threads = [threading.Thread(target=lambda: found.append(assay.check(self.history).violated)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [found[0]] * 4)

    def test_results_outlive_their_history(self):
        result = assay.check(assay.History.parse(WRITE_SKEW))
        gc.collect()
        self.assertIn("write-skew", result.report("json"))

    def test_frames(self):
        for module, rows in (("pandas", lambda f: f.to_dict("records")), ("polars", lambda f: f.to_dicts())):
            if importlib.util.find_spec(module) is None:
                print(f"no {module} here")
                continue
            frame = getattr(self.result, f"to_{module}")()
            row = next(r for r in rows(frame) if r["level"] == "serializable")
            self.assertEqual((row["outcome"], row["anomaly"]), ("violated", "write-skew"))
            self.assertEqual(list(row["transactions"]), ["s1-0", "s2-0"])


class WhatCounts(unittest.TestCase):
    def test_aborted_reads(self):
        seen = assay.History.parse("s1: { w(x,1) w(y,1) }\ns1: { w(x,2) w(y,2) }\ns2: { r(x,1) r(y,2) }!\ns3: { r(x,2) }")
        self.assertTrue(assay.check(seen, "session-serializable"))
        self.assertFalse(assay.check(seen, "session-serializable", aborted_reads=True))

    def test_contention(self):
        apart = assay.History.parse("s1: { w(x,1) r(x,1) }\ns2: { w(y,1) } { r(y,1) }")
        self.assertTrue(assay.check(apart, "serializable"))
        self.assertEqual(assay.check(apart, "serializable", require_contention=True)["serializable"].cause, "uncontended")


class Reading(unittest.TestCase):
    def test_files_and_folders_of_the_disk(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "ä.hist")
            path.write_text(WRITE_SKEW)
            self.assertEqual(assay.check(path).violated, assay.check(str(path), format="hist").violated)
            copy = pathlib.Path(folder, "copy.jsonl")
            assay.History.read(path).write(copy)
            self.assertEqual(assay.check(copy).violated, assay.check(path).violated)

    def test_mistakes_have_their_place(self):
        with self.assertRaises(assay.BadInput) as caught:
            assay.History.parse('{"assay":1}\n{"session":1,"ops":[["r"]]}\n', "run")
        self.assertEqual((caught.exception.file, caught.exception.line), ("run", 2))
        self.assertGreater(caught.exception.column, 0)
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(assay.ReadError, "no/such/file"):
            assay.check("no/such/file")
        with self.assertRaisesRegex(assay.UsageError, "unknown format 'word'"):
            assay.History.parse("", format="word")

    def test_notes(self):
        cut = assay.History.parse('{"assay":1}\n{"session":1,"ops":[["w","x",1]]}\n{"session":1,"op')
        self.assertEqual(len(cut.notes), 1)
        self.assertIn("history:3", cut.notes[0])


class Building(unittest.TestCase):
    def test_every_operation(self):
        b = assay.HistoryBuilder()
        with b.transaction("s", name="first") as t:
            t.began(5)
            t.write("k", "v")
            t.append("l", 1)
            t.insert(5, b"five")
            t.timestamps(start=3, commit=4)
            t.ended(7, 9)
        t = b.transaction("s")
        t.read_list("l", [1])
        t.range(1, None, {5: "five"})
        t.compare_and_set("k", "v", "w", True)
        t.read("none", None)
        t.delete(5, "gone")
        t.unknown()
        b.transaction(2).abort()
        b.known_order("k", ["v", "w"])
        text = b.finish().to_bytes().decode()
        for expected in ('["w","k","v"]', '["append","l",1]', '["insert",5,"five",true]', '["r","l",[1]]',
                         '["range",1,null,[[5,"five"]]]', '["cas","k","v","w",true]', '["r","none",null]',
                         '["d",5,"gone"]', '"status":"unknown"', '"status":"aborted"', '"txn":"first"', '"begin":5',
                         '"end":[7,9]', '"start_ts":3', '"order":["v","w"]'):
            self.assertIn(expected, text)
        self.assertEqual(b.finish().transactions, 0)

    def test_a_block_that_fails_leaves_an_unknown_outcome(self):
        b = assay.HistoryBuilder()
        with self.assertRaises(RuntimeError), b.transaction(1) as t:
            t.write("x", 1)
            raise RuntimeError
        with b.transaction(1) as t:
            t.write("x", 2)
            t.abort()
        self.assertEqual([assay.check(b.finish(), allow_empty=True).summary.unknown], [1])

    def test_numbers_that_are_equal_stay_equal(self):
        b = assay.HistoryBuilder()
        for session, values in ((1, (Decimal("1.50"), 2.0, True, Decimal("1E+2"))), (2, (1.5, 2, 1, 100))):
            with b.transaction(session) as t:
                for key, value in enumerate(values):
                    (t.write if session == 1 else t.read)(key, value)
        text = b.finish().to_bytes("hist").decode()
        self.assertEqual([text.count(f"({key},{value})") for key, value in enumerate(('"1.5"', 2, 1, 100))], [2, 2, 2, 2], text)

    def test_mistakes(self):
        b = assay.HistoryBuilder()
        t = b.transaction(1)
        t.commit()
        with self.assertRaisesRegex(assay.UsageError, "has ended"):
            t.write("x", 1)
        with self.assertRaisesRegex(TypeError, "of type object; expected None, a number, str or bytes"):
            b.transaction(1).write("x", object())
        with self.assertRaisesRegex(assay.UsageError, "out of range"):
            b.transaction(1).write("x", 2**63)

    def test_ten_thousand_transactions(self):
        b = assay.HistoryBuilder(initial=0)
        for i in range(10_000):
            with b.transaction(i % 7) as t:
                t.read("x", i)
                t.write("x", i + 1)
        result = assay.check(b.finish(), "session-serializable")
        self.assertEqual(result.satisfied, ["session-serializable"])


class Loading(unittest.TestCase):
    def test_a_library_that_is_not_there_is_named(self):
        told = subprocess.run([sys.executable, "-c", "import assay"], env={"ASSAY_LIBRARY": "no-such-library.so"},
                              capture_output=True, text=True)
        self.assertIn("no-such-library.so", told.stderr)


if __name__ == "__main__":
    unittest.main()
