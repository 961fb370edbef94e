(* The isolation levels, as the literature defines them.

   A history says what each operation returned, and not whose write that was,
   which of two writes of a key came first, or whether a transaction without an
   answer took effect. A level holds if these can be chosen so that what the
   paper forbids does not occur. Sources:

     Adya            A. Adya: Weak Consistency, PhD thesis, MIT 1999, by the
                     names of its levels (PL-…) and phenomena (G…)
     B&E             R. Biswas, C. Enea: On the Complexity of Checking
                     Transactional Consistency, OOPSLA 2019, figure 2: axioms
     Papadimitriou   C. Papadimitriou: The Serializability of Concurrent
                     Database Updates, JACM 1979
     Herlihy         M. Herlihy, J. Wing: Linearizability, TOPLAS 1990
     Elnikety        S. Elnikety, F. Pedone, W. Zwaenepoel: Database Replication
                     Using Generalized Snapshot Isolation, SRDS 2005
     Daudjee         K. Daudjee, K. Salem: Lazy Database Replication with
                     Snapshot Isolation, VLDB 2006

   Nothing here says how a level is decided or what a certificate looks like. *)
From Coq Require Import PArith List Bool Relations.
From Proof Require Import History.
Import ListNotations.

(* --- what is left open *)

(* Who took effect, and whose write operation [i] of [t] found in [k]. *)
Record reading := {
  took_effect : txn -> bool;
  read_from : txn -> nat -> key -> source }.

Definition found (h : history) (k : key) (s : source) (x : state) : Prop :=
  match s with
  | None => x = Holds (initial_value h k)
  | Some t => leaves h t k = Some x
  end.

(* Such a choice explains what every operation returned. Aborted reads (Adya's
   G1a), intermediate reads (G1b) and reads from nowhere are excluded: what is
   read is the last write of a transaction that took effect.
     - Who committed took effect, nobody who aborted did, and a transaction of
       unknown outcome may have; it did if a stated order names it.
     - Who reads a key that it wrote reads its own last write.
     - Any other read is of what one transaction left of the key, which took
       effect and is another one, or of the initial state.
     - Where the history states whose write a read returned, it is that. *)
Record explains (h : history) (r : reading) : Prop := {
  committed_take_effect t : committed h t -> took_effect r t = true;
  nobody_else t : took_effect r t = true ->
    exists body, transaction_of h t = Some body /\ status body <> Aborted;
  stated_take_effect t : named_somewhere h t -> took_effect r t = true;
  own_reads t i a x : took_effect r t = true ->
    sees_itself h t i a x -> accepts a x = true;
  other_reads t i k a : took_effect r t = true -> sees_others h t i k a ->
    exists x, found h k (read_from r t i k) x /\ accepts a x = true;
  of_others t i k a s : took_effect r t = true -> sees_others h t i k a ->
    read_from r t i k = Some s -> took_effect r s = true /\ s <> t;
  as_stated t i s k a : took_effect r t = true -> states_source h t i s ->
    sees_others h t i k a -> read_from r t i k = s }.

(* [reads_from h r t i k s]: operation [i] of [t] read what [s] left in [k]. *)
Definition reads_from (h : history) (r : reading) (t : txn) (i : nat) (k : key)
    (s : source) : Prop :=
  took_effect r t = true /\ (exists a, sees_others h t i k a) /\
  read_from r t i k = s.

Definition writer (h : history) (r : reading) (t : txn) (k : key) : Prop :=
  took_effect r t = true /\ writes h t k.

(* --- the dependency graph (Adya's DSG) *)

(* An order of the versions of each key, Adya's [<<]: total on those who wrote
   the key, and the one that the history states, as far as it does. *)
Record version_order (h : history) (r : reading)
    (before : key -> txn -> txn -> Prop) : Prop := {
  irreflexive k s : ~ before k s s;
  transitive k s t u : before k s t -> before k t u -> before k s u;
  total k s t : writer h r s k -> writer h r t k -> s <> t ->
    before k s t \/ before k t s;
  of_writers k s t : before k s t -> writer h r s k /\ writer h r t k;
  follows_stated k s t : stated_before h k s t -> before k s t }.

Section Dependencies.
Variable h : history.
Variable r : reading.
Variable before : key -> txn -> txn -> Prop.

(* T read a version of S. *)
Definition read_dependency (s t : txn) : Prop :=
  exists i k, reads_from h r t i k (Some s).

(* T wrote a later version than S. Adya has an edge to the next version alone:
   Adya.v proves that the cycles are the same. *)
Definition write_dependency (s t : txn) : Prop :=
  exists k, before k s t.

(* T wrote a later version than the one that S read. *)
Definition anti_dependency (s t : txn) : Prop :=
  s <> t /\ exists i k,
    (exists w, reads_from h r s i k (Some w) /\ before k w t) \/
    (reads_from h r s i k None /\ writer h r t k).

Definition session_order (s t : txn) : Prop :=
  took_effect r s = true /\ took_effect r t = true /\ session_before h s t.

Definition real_time (s : txn) (m : moment) (t : txn) (n : moment) : Prop :=
  took_effect r s = true /\ took_effect r t = true /\ s <> t /\
  clock_before h s m t n.
End Dependencies.

Definition acyclic {A : Type} (edge : A -> A -> Prop) : Prop :=
  forall x, ~ clos_trans A edge x x.

(* --- serializability *)

(* Adya's PL-3, which excludes G1 and G2: no cycle of dependencies. With the
   version order left open it is view serializability (Papadimitriou). *)
Definition serializable (h : history) : Prop :=
  exists r before, explains h r /\ version_order h r before /\
  acyclic (fun s t =>
    read_dependency h r s t \/ write_dependency before s t \/
    anti_dependency h r before s t).

(* The same in the order of each session. B&E have it as the axiom
   Serializability: BiswasEnea.v proves it the same. *)
Definition session_serializable (h : history) : Prop :=
  exists r before, explains h r /\ version_order h r before /\
  acyclic (fun s t =>
    read_dependency h r s t \/ write_dependency before s t \/
    anti_dependency h r before s t \/ session_order h r s t).

(* The same in the order of the clock: strict in the sense of Papadimitriou. *)
Definition strict_serializable (h : history) : Prop :=
  exists r before, explains h r /\ version_order h r before /\
  acyclic (fun s t =>
    read_dependency h r s t \/ write_dependency before s t \/
    anti_dependency h r before s t \/ session_order h r s t \/
    real_time h r s Commit t Begin).

(* The same where each transaction is one operation on one key: linearizability
   of registers (Herlihy). *)
Definition one_operation (h : history) (t : txn) : Prop :=
  exists body o, transaction_of h t = Some body /\ operations body = [o] /\
  forall low high rows, o <> Range low high rows.

Definition linearizable (h : history) : Prop :=
  exists r before, explains h r /\ version_order h r before /\
  (forall t, took_effect r t = true -> one_operation h t) /\
  acyclic (fun s t =>
    read_dependency h r s t \/ write_dependency before s t \/
    anti_dependency h r before s t \/ session_order h r s t \/
    real_time h r s Commit t Begin).

(* --- snapshot isolation *)

(* Start and commit of each transaction. *)
Definition event : Type := txn * moment.

(* What has to come before what for snapshot isolation (Adya's PL-SI, with start
   times left open; Adya.v has it in his words, and that it is the same). If T
   depends on S by reading or by overwriting, T started after S committed, which
   excludes G-SIa; if T overwrites what S read, T committed after S started,
   which excludes G-SIb. *)
Inductive snapshot_edge (h : history) (r : reading)
    (before : key -> txn -> txn -> Prop) : event -> event -> Prop :=
  | starts_before_it_commits t : took_effect r t = true ->
      snapshot_edge h r before (t, Begin) (t, Commit)
  | reads_what_is_committed s t : read_dependency h r s t ->
      snapshot_edge h r before (s, Commit) (t, Begin)
  | overwrites_what_is_committed s t : write_dependency before s t ->
      snapshot_edge h r before (s, Commit) (t, Begin)
  | is_overwritten_after_its_start s t : anti_dependency h r before s t ->
      snapshot_edge h r before (s, Begin) (t, Commit).

(* Each snapshot holds what its session did before. *)
Inductive session_edge (h : history) (r : reading) : event -> event -> Prop :=
  | session_continues s t : session_order h r s t ->
      session_edge h r (s, Commit) (t, Begin).

Definition adya_si (h : history) : Prop :=
  exists r before, explains h r /\ version_order h r before /\
  acyclic (snapshot_edge h r before).

(* B&E have it as the axioms Prefix and Conflict: BiswasEnea.v proves it the same. *)
Definition session_si (h : history) : Prop :=
  exists r before, explains h r /\ version_order h r before /\
  acyclic (fun e f => snapshot_edge h r before e f \/ session_edge h r e f).

(* Snapshots may be old, but are none of the future, and commits are in the
   order of the clock: generalized snapshot isolation (Elnikety). *)
Inductive commit_time_edge (h : history) (r : reading) : event -> event -> Prop :=
  | before_a_commit s m t : real_time h r s m t Commit ->
      commit_time_edge h r (s, m) (t, Commit).

Definition generalized_si (h : history) : Prop :=
  exists r before, explains h r /\ version_order h r before /\
  acyclic (fun e f =>
    snapshot_edge h r before e f \/ commit_time_edge h r e f).

(* Strong session snapshot isolation (Daudjee). *)
Definition strong_session_si (h : history) : Prop :=
  exists r before, explains h r /\ version_order h r before /\
  acyclic (fun e f =>
    snapshot_edge h r before e f \/ session_edge h r e f \/
    commit_time_edge h r e f).

(* Strong snapshot isolation (Daudjee): a snapshot also holds all that had been
   committed. *)
Inductive start_time_edge (h : history) (r : reading) : event -> event -> Prop :=
  | before_a_start s t : real_time h r s Commit t Begin ->
      start_time_edge h r (s, Commit) (t, Begin).

Definition strong_si (h : history) : Prop :=
  exists r before, explains h r /\ version_order h r before /\
  acyclic (fun e f =>
    snapshot_edge h r before e f \/ session_edge h r e f \/
    commit_time_edge h r e f \/ start_time_edge h r e f).

(* --- the weak levels: axioms over a commit order (B&E) *)

Record commit_order (h : history) (r : reading) (co : txn -> txn -> Prop) :
    Prop := {
  co_irreflexive s : ~ co s s;
  co_transitive s t u : co s t -> co t u -> co s u;
  co_total s t : took_effect r s = true -> took_effect r t = true -> s <> t ->
    co s t \/ co t s;
  contains_session_order s t : session_order h r s t -> co s t;
  contains_reads_from s t : read_dependency h r s t -> co s t;
  contains_stated k s t : stated_before h k s t -> co s t }.

(* The form that all axioms have: T3 reads x from T1; T2, another writer of x, is
   visible to it; then T2 comes before T1, and T1 is not the initial state. *)
Definition axiom (h : history) (r : reading) (co : txn -> txn -> Prop)
    (visible : txn -> txn -> nat -> Prop) : Prop :=
  forall t1 t2 t3 i x, reads_from h r t3 i x t1 -> writer h r t2 x ->
  t1 <> Some t2 -> visible t2 t3 i ->
  exists t, t1 = Some t /\ co t2 t.

(* (wr o po)(T2, the read): an earlier operation of T3 read from T2. *)
Definition read_earlier (h : history) (r : reading) (t2 t3 : txn) (i : nat) :
    Prop :=
  exists j y, j < i /\ reads_from h r t3 j y (Some t2).

Definition session_or_read (h : history) (r : reading) (s t : txn) : Prop :=
  session_order h r s t \/ read_dependency h r s t.

(* The axiom Read Committed. *)
Definition read_committed (h : history) : Prop :=
  exists r co, explains h r /\ commit_order h r co /\
  axiom h r co (read_earlier h r).

(* The axiom Read Atomic: (so + wr)(T2, T3). *)
Definition read_atomic (h : history) : Prop :=
  exists r co, explains h r /\ commit_order h r co /\
  axiom h r co (fun t2 t3 _ => session_or_read h r t2 t3).

(* The axiom Causal: the transitive closure of that. *)
Definition causal (h : history) : Prop :=
  exists r co, explains h r /\ commit_order h r co /\
  axiom h r co (fun t2 t3 _ => clos_trans txn (session_or_read h r) t2 t3).

(* The axiom Prefix: (co* o (so + wr))(T2, T3). *)
Definition prefix (h : history) : Prop :=
  exists r co, explains h r /\ commit_order h r co /\
  axiom h r co (fun t2 t3 _ =>
    exists t, (t2 = t \/ co t2 t) /\ session_or_read h r t t3).
