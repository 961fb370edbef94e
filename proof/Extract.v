(* What becomes a program. Numbers stay those of Coq: none can overflow. *)
From Coq Require Import Extraction ExtrOcamlBasic.
From Proof Require Import History Digest Sources Refutation Theorems.

Extraction Language OCaml.
Extraction "checker.ml" prepare check_satisfied check_violated certainly_reads
  sources_of within installs accepts written_by looks known_keys PM.add PM.elements.
