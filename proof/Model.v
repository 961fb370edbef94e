(* What all levels have in common, seen from a refutation.

   Suppose that a history satisfies a level. Then there are choices that explain
   it, and from them a relation between events without a cycle, and an order of
   writers. A refutation appeals to nothing but the facts below; that each level
   has them is proved in LevelModels.v. *)
From Coq Require Import PArith List Bool Relations.
From Proof Require Import History Levels.
Import ListNotations.

(* What shows that a transaction saw another. *)
Inductive seeing :=
  | ByPath     (* any number of steps: causal, and the levels above *)
  | ByStep     (* one: read atomic *)
  | ByEarlierRead.  (* an earlier read: read committed *)

Record strength := {
  one_event_each : bool;  (* a transaction is one event *)
  versions : bool;        (* anti-dependencies order events *)
  writes_at_begin : bool; (* who overwrites began after the commit *)
  has_sessions : bool;
  clocks : list (moment * moment);
  shown : seeing }.

Definition node (l : strength) (e : event) : event :=
  if one_event_each l then (fst e, Begin) else e.

Definition overwriter (l : strength) (t : txn) : event :=
  if writes_at_begin l then (t, Begin) else (t, Commit).

Definition steps_to (h : history) (r : reading) (l : strength) (s t : txn) : Prop :=
  read_dependency h r s t \/ (has_sessions l = true /\ session_order h r s t).

Definition saw (h : history) (r : reading) (l : strength) (s t : txn) (i : nat) :
    Prop :=
  match shown l with
  | ByPath => clos_trans txn (steps_to h r l) s t
  | ByStep => steps_to h r l s t
  | ByEarlierRead => read_earlier h r s t i
  end.

Record model (h : history) (l : strength) (r : reading)
    (edge : event -> event -> Prop) (ord : txn -> txn -> Prop) : Prop := {
  m_explains : explains h r;
  m_acyclic : acyclic edge;
  m_begin t : one_event_each l = false -> took_effect r t = true ->
    edge (t, Begin) (t, Commit);
  m_read s t : read_dependency h r s t ->
    edge (node l (s, Commit)) (node l (t, Begin));
  m_session s t : has_sessions l = true -> session_order h r s t ->
    edge (node l (s, Commit)) (node l (t, Begin));
  m_clock m n s t : In (m, n) (clocks l) -> real_time h r s m t n ->
    edge (node l (s, m)) (node l (t, n));
  m_either a b k : writer h r a k -> writer h r b k -> a <> b ->
    ord a b \/ ord b a;
  m_not_both a b : ord a b -> ord b a -> False;
  m_ord a b : ord a b -> edge (node l (a, Commit)) (node l (overwriter l b));
  m_stated k a b : stated_before h k a b -> ord a b;
  m_anti s t i k v : versions l = true -> reads_from h r s i k v ->
    writer h r t k -> s <> t -> v <> Some t ->
    (forall w, v = Some w -> ord w t) ->
    edge (node l (s, Begin)) (node l (t, Commit));
  m_forced a b t i k : reads_from h r t i k (Some b) -> writer h r a k ->
    a <> b -> a <> t -> saw h r l a t i -> ord a b;
  m_unseen a t i k : reads_from h r t i k None -> writer h r a k -> a <> t ->
    saw h r l a t i -> False;
  m_one_state t i j k s s' : shown l <> ByEarlierRead ->
    reads_from h r t i k s -> reads_from h r t j k s' -> s = s' }.
