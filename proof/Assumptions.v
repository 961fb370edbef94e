(* What the theorems rest on: nothing but Coq itself. dev/proved compares what
   this file prints. *)
From Proof Require Import Theorems Lattice SnapshotPrefix Separations Adya
  BiswasEnea.

Print Assumptions satisfied_is_right.
Print Assumptions violated_is_right.
Print Assumptions never_both.
Print Assumptions linearizable_strict.
Print Assumptions strict_session_serializable.
Print Assumptions session_serializable_serializable.
Print Assumptions session_serializable_session_si.
Print Assumptions serializable_adya_si.
Print Assumptions strong_si_strong_session_si.
Print Assumptions strong_session_si_session_si.
Print Assumptions strong_session_si_generalized_si.
Print Assumptions generalized_si_adya_si.
Print Assumptions session_si_adya_si.
Print Assumptions session_si_prefix.
Print Assumptions lattice.
Print Assumptions serializable_is_pl3.
Print Assumptions adya_si_is_pl_si.
Print Assumptions session_serializable_is_the_axiom.
Print Assumptions session_si_is_the_axioms.
Print Assumptions prefix_causal.
Print Assumptions causal_read_atomic.
Print Assumptions read_atomic_read_committed.
