(* The lattice is complete: one level implies another exactly where a path of
   arrows leads down to it. Each arrow that is missing has a history that
   satisfies the one level and violates the other, shown by the checker itself. *)
From Coq Require Import PArith ZArith List Bool FMapPositive.
From Proof Require Import History Levels Model Literals Refutation Theorems Lattice
  SnapshotPrefix.
Import ListNotations.

Record separation := {
  what : history;
  satisfied : list (list level * order_claim);
  violated : list (list level * list step) }.

Definition right (s : separation) : bool :=
  let p := prepare (what s) in
  forallb (fun lc => forallb (fun l => check_satisfied (what s) p l (snd lc)) (fst lc))
    (satisfied s) &&
  forallb (fun lv => forallb (fun l => check_violated (what s) p l (snd lv)) (fst lv))
    (violated s).

(* --- the histories *)

Definition at_ (t : Z) : interval := {| request := Some t; response := Some t |}.
Definition never : interval := {| request := None; response := None |}.

Definition ran (s : positive) (o : outcome) (from until : interval)
    (ops : list operation) : transaction :=
  {| session := s; status := o; began := from; ended := until; operations := ops |}.

(* Transactions are numbered from 1; every key is null at first. *)
Definition recorded (ts : list transaction) : history := {|
  transactions := snd (fold_left (fun nm t =>
    (Pos.succ (fst nm), PM.add (fst nm) t (snd nm))) ts (1%positive, PM.empty _));
  initial_of_all := None;
  initial_of_one := PM.empty _;
  stated_orders := [];
  drift := 0 |}.

Definition mapped {A} (l : list (positive * A)) : PM.t A :=
  fold_left (fun m kx => PM.add (fst kx) (snd kx) m) l (PM.empty A).

Local Open Scope positive_scope.

(* a: @[0,10] { w(x,1) } @[20,30] { r(y,null) }
   b: @[5,15] { w(y,1) } @[25,35] { r(x,null) } *)
Definition history_1 : separation := {|
  what := recorded [
    ran 1 Committed (at_ 0) (at_ 10)
      [Write 1 (Some 2)];
    ran 1 Committed (at_ 20) (at_ 30)
      [Read 2 None None];
    ran 3 Committed (at_ 5) (at_ 15)
      [Write 2 (Some 2)];
    ran 3 Committed (at_ 25) (at_ 35)
      [Read 1 None None]];
  satisfied := [([AdyaSi; GeneralizedSi],
      Executed [(1, Begin); (3, Begin); (2, Begin); (4, Begin); (1, Commit); (3,
        Commit); (2, Commit); (4, Commit)]);
    ([Serializable],
      Executed [(2, Begin); (2, Commit); (3, Begin); (3, Commit); (4, Begin); (4,
        Commit); (1, Begin); (1, Commit)]);
    ([ReadCommitted; ReadAtomic],
      Sourced [1; 3; 2; 4]
      (mapped [(4, [None]); (2, [None]); (1, []); (3, [])])
      (mapped []));
    ([Causal],
      Sourced [1; 3; 2; 4]
      (mapped [(4, [None]); (2, [None]); (1, []); (3, [])])
      (mapped [(4, mapped [(6, 4)]); (2, mapped [(2, 2)]); (1, mapped []); (3,
        mapped [])]))];
  violated := [([StrictSerializable],
      [Cycle [Misses 4 1 1 None (Some 0%nat); InTime 1 Commit 4 Begin] []]);
    ([Prefix; SessionSi; StrongSessionSi; StrongSi; SessionSerializable],
      [Cycle [InSession 1 2; Misses 2 3 2 None (Some 0%nat); InSession 3 4; Misses 4
        1 1 None (Some 0%nat)] []])] |}.

(* b: @[0,10] { r(x,1) }
   a: @[20,30] { w(x,1) } *)
Definition history_2 : separation := {|
  what := recorded [
    ran 1 Committed (at_ 0) (at_ 10)
      [Read 1 (Some 2) None];
    ran 3 Committed (at_ 20) (at_ 30)
      [Write 1 (Some 2)]];
  satisfied := [([ReadCommitted; ReadAtomic; Causal; Prefix; AdyaSi; SessionSi;
    Serializable; SessionSerializable],
      Executed [(2, Begin); (2, Commit); (1, Begin); (1, Commit)])];
  violated := [([StrictSerializable],
      [Cycle [Reads 2 1 1 (Some 0%nat); InTime 1 Commit 2 Begin] []]);
    ([GeneralizedSi; StrongSessionSi; StrongSi],
      [Cycle [InTime 1 Commit 2 Commit; Reads 2 1 1 (Some 0%nat)] []])] |}.

(* s1: @[0,2] { w(x,1) r(y,null) }
   s2: @[1,3] { r(x,null) w(y,1) } *)
Definition history_3 : separation := {|
  what := recorded [
    ran 1 Committed (at_ 0) (at_ 2)
      [Write 1 (Some 2); Read 2 None None];
    ran 3 Committed (at_ 1) (at_ 3)
      [Read 1 None None; Write 2 (Some 2)]];
  satisfied := [([ReadCommitted; ReadAtomic; Causal; Prefix; AdyaSi; SessionSi;
    GeneralizedSi; StrongSessionSi; StrongSi],
      Executed [(1, Begin); (2, Begin); (1, Commit); (2, Commit)])];
  violated := [([Serializable; SessionSerializable; StrictSerializable],
      [Cycle [Misses 1 2 2 None (Some 1%nat); Misses 2 1 1 None (Some 0%nat)] []])]
        |}.

(* s1: @[0,0] { r(x,1) } @[0,0] { w(x,1) } *)
Definition history_4 : separation := {|
  what := recorded [
    ran 1 Committed (at_ 0) (at_ 0)
      [Read 1 (Some 2) None];
    ran 1 Committed (at_ 0) (at_ 0)
      [Write 1 (Some 2)]];
  satisfied := [([AdyaSi; GeneralizedSi; Serializable],
      Executed [(2, Begin); (2, Commit); (1, Begin); (1, Commit)])];
  violated := [([Causal; Prefix; SessionSi; StrongSessionSi; StrongSi;
    SessionSerializable; StrictSerializable; ReadAtomic; ReadCommitted],
      [Cycle [InSession 1 2; Reads 2 1 1 (Some 0%nat)] []])] |}.

(* 1: { r(x,null) w(x,2) }
   2: { r(x,null) w(x,4) } *)
Definition history_5 : separation := {|
  what := recorded [
    ran 1 Committed never never
      [Read 1 None None; Write 1 (Some 2)];
    ran 3 Committed never never
      [Read 1 None None; Write 1 (Some 4)]];
  satisfied := [([ReadCommitted; ReadAtomic; Causal; Prefix],
      Executed [(1, Begin); (2, Begin); (1, Commit); (2, Commit)])];
  violated := [([AdyaSi; SessionSi; GeneralizedSi; StrongSessionSi; StrongSi;
    SessionSerializable; StrictSerializable],
      [Cycle [Overwrites 1 2 1; Misses 2 1 1 None (Some 0%nat)] []; Cycle
        [Overwrites 2 1 1; Misses 1 2 1 None (Some 0%nat)] []; Derived [] [1; 2]]);
    ([Serializable],
      [Cycle [Misses 1 2 1 None (Some 0%nat); Misses 2 1 1 None (Some 0%nat)] []])]
        |}.

(* s1: @[0,2] { w(x,1) }
   s2: @[1,3] { r(x,1) } *)
Definition history_6 : separation := {|
  what := recorded [
    ran 1 Committed (at_ 0) (at_ 2)
      [Write 1 (Some 2)];
    ran 3 Committed (at_ 1) (at_ 3)
      [Read 1 (Some 2) None]];
  satisfied := [([ReadCommitted; ReadAtomic; Causal; Prefix; AdyaSi; SessionSi;
    Serializable; SessionSerializable; StrictSerializable],
      Executed [(1, Begin); (1, Commit); (2, Begin); (2, Commit)])];
  violated := [([GeneralizedSi; StrongSessionSi; StrongSi],
      [Cycle [Reads 1 2 1 (Some 0%nat); InTime 2 Begin 1 Commit] []])] |}.

(* s1: { w(x,1) } { r(x,null) } *)
Definition history_7 : separation := {|
  what := recorded [
    ran 1 Committed never never
      [Write 1 (Some 2)];
    ran 1 Committed never never
      [Read 1 None None]];
  satisfied := [([AdyaSi; Serializable],
      Executed [(2, Begin); (2, Commit); (1, Begin); (1, Commit)]);
    ([ReadCommitted],
      Sourced [1; 2]
      (mapped [(2, [None]); (1, [])])
      (mapped []))];
  violated := [([Causal; ReadAtomic],
      [Unseen 1 2 1 (Some 0%nat) [HopSession 1 2] []]);
    ([Prefix; SessionSi; StrongSessionSi; StrongSi; SessionSerializable;
      StrictSerializable],
      [Cycle [InSession 1 2; Misses 2 1 1 None (Some 0%nat)] []])] |}.

(* s1: @[0,1] { w(x,1) }
   s2: @[2,3] { r(x,null) } *)
Definition history_8 : separation := {|
  what := recorded [
    ran 1 Committed (at_ 0) (at_ 1)
      [Write 1 (Some 2)];
    ran 3 Committed (at_ 2) (at_ 3)
      [Read 1 None None]];
  satisfied := [([ReadCommitted; ReadAtomic; Causal; Prefix; AdyaSi; SessionSi;
    Serializable; SessionSerializable],
      Executed [(2, Begin); (2, Commit); (1, Begin); (1, Commit)]);
    ([GeneralizedSi; StrongSessionSi],
      Executed [(1, Begin); (2, Begin); (1, Commit); (2, Commit)])];
  violated := [([StrictSerializable],
      [Cycle [Misses 2 1 1 None (Some 0%nat); InTime 1 Commit 2 Begin] []]);
    ([StrongSi],
      [Cycle [InTime 1 Commit 2 Begin; Misses 2 1 1 None (Some 0%nat)] []])] |}.

(* a: @[0,10] { w(x,1) }
   b: @[20,30] { r(x,1) } @[40,50] { r(x,null) } *)
Definition history_9 : separation := {|
  what := recorded [
    ran 1 Committed (at_ 0) (at_ 10)
      [Write 1 (Some 2)];
    ran 3 Committed (at_ 20) (at_ 30)
      [Read 1 (Some 2) None];
    ran 3 Committed (at_ 40) (at_ 50)
      [Read 1 None None]];
  satisfied := [([AdyaSi; GeneralizedSi],
      Executed [(1, Begin); (3, Begin); (1, Commit); (2, Begin); (2, Commit); (3,
        Commit)]);
    ([Serializable],
      Executed [(3, Begin); (3, Commit); (1, Begin); (1, Commit); (2, Begin); (2,
        Commit)]);
    ([ReadCommitted; ReadAtomic],
      Sourced [1; 2; 3]
      (mapped [(2, [(Some 1)]); (1, []); (3, [None])])
      (mapped []))];
  violated := [([StrictSerializable],
      [Cycle [Misses 3 1 1 None (Some 0%nat); InTime 1 Commit 3 Begin] []]);
    ([Causal],
      [Unseen 1 3 1 (Some 0%nat) [HopRead 1 2 1 (Some 0%nat); HopSession 2 3] []]);
    ([Prefix; SessionSi; StrongSessionSi; StrongSi; SessionSerializable],
      [Cycle [Reads 1 2 1 (Some 0%nat); InSession 2 3; Misses 3 1 1 None (Some
        0%nat)] []])] |}.

Local Close Scope positive_scope.

Definition separations : list separation :=
  [history_1; history_2; history_3; history_4; history_5; history_6; history_7;
   history_8; history_9].

Lemma all_right : forallb right separations = true.
Proof. vm_compute. reflexivity. Qed.

(* --- arrows *)

Definition number (l : level) : nat :=
  match l with
  | ReadCommitted => 0 | ReadAtomic => 1 | Causal => 2 | Prefix => 3
  | AdyaSi => 4 | SessionSi => 5 | GeneralizedSi => 6 | StrongSessionSi => 7
  | StrongSi => 8 | Serializable => 9 | SessionSerializable => 10
  | StrictSerializable => 11 | Linearizable => 12
  end.

Definition same (a b : level) : bool := Nat.eqb (number a) (number b).

Lemma same_eq a b : same a b = true -> a = b.
Proof. destruct a, b; (reflexivity || discriminate). Qed.

(* The arrows of docs/levels/README.md. *)
Definition below (l : level) : list level :=
  match l with
  | ReadCommitted | AdyaSi => []
  | ReadAtomic => [ReadCommitted]
  | Causal => [ReadAtomic]
  | Prefix => [Causal]
  | SessionSi => [Prefix; AdyaSi]
  | GeneralizedSi => [AdyaSi]
  | StrongSessionSi => [SessionSi; GeneralizedSi]
  | StrongSi => [StrongSessionSi]
  | Serializable => [AdyaSi]
  | SessionSerializable => [SessionSi; Serializable]
  | StrictSerializable => [SessionSerializable]
  | Linearizable => [StrictSerializable]
  end.

Lemma below_implied a b : In b (below a) -> forall h, holds a h -> holds b h.
Proof.
  destruct a; simpl; intros I h; repeat destruct I as [<-|I]; try contradiction.
  - apply read_atomic_read_committed.
  - apply causal_read_atomic.
  - apply prefix_causal.
  - apply session_si_prefix.
  - apply session_si_adya_si.
  - apply generalized_si_adya_si.
  - apply strong_session_si_session_si.
  - apply strong_session_si_generalized_si.
  - apply strong_si_strong_session_si.
  - apply serializable_adya_si.
  - apply session_serializable_session_si.
  - apply session_serializable_serializable.
  - apply strict_session_serializable.
  - apply linearizable_strict.
Qed.

(* Whether a path of at most so many arrows leads down. *)
Fixpoint leads (n : nat) (a b : level) : bool :=
  same a b ||
  match n with O => false | S n => existsb (fun c => leads n c b) (below a) end.

Lemma leads_implied n : forall a b, leads n a b = true ->
  forall h, holds a h -> holds b h.
Proof.
  induction n as [|n IH]; intros a b L h; cbn [leads] in L;
    apply orb_true_iff in L as [L|L]; try discriminate;
    try (apply same_eq in L; now subst).
  apply existsb_exists in L as [c [I L]]. intros H.
  apply (IH c b L). now apply (below_implied a c).
Qed.

Definition path (a b : level) : bool := leads 12 a b.

(* --- the theorem *)

Definition among (l : level) (ls : list level) : bool := existsb (same l) ls.

Definition separated (a b : level) (s : separation) : bool :=
  existsb (fun lc => among a (fst lc)) (satisfied s) &&
  existsb (fun lv => among b (fst lv)) (violated s).

Lemma separated_right a b s : right s = true -> separated a b s = true ->
  holds a (what s) /\ ~ holds b (what s).
Proof.
  unfold right, separated. rewrite !andb_true_iff, !forallb_forall, !existsb_exists.
  intros [S V] [[[ls c] [I A]] [[ls' v] [J B]]].
  apply existsb_exists in A as [x [X Y]]. apply same_eq in Y. subst x.
  apply existsb_exists in B as [y [Y Z]]. apply same_eq in Z. subst y.
  specialize (S _ I). specialize (V _ J). rewrite forallb_forall in S, V.
  split; [apply (satisfied_is_right _ a c), S, X|].
  apply (violated_is_right _ b v), V, Y.
Qed.

Definition recorded_levels := [ReadCommitted; ReadAtomic; Causal; Prefix; AdyaSi;
  SessionSi; GeneralizedSi; StrongSessionSi; StrongSi; Serializable;
  SessionSerializable; StrictSerializable].

Lemma every_missing_arrow : forallb (fun a => forallb (fun b =>
    path a b || existsb (separated a b) separations) recorded_levels)
  recorded_levels = true.
Proof. vm_compute. reflexivity. Qed.

(* Linearizability, which asks for single operations, has its arrow above. *)
Theorem lattice a b : a <> Linearizable -> b <> Linearizable ->
  (path a b = true <-> forall h, holds a h -> holds b h).
Proof.
  intros A B. split; [apply leads_implied|]. intros H.
  assert (forall l, l <> Linearizable -> In l recorded_levels) as all
    by (intros [] N; simpl; tauto).
  pose proof every_missing_arrow as M. rewrite forallb_forall in M.
  specialize (M a (all a A)). rewrite forallb_forall in M. specialize (M b (all b B)).
  apply orb_true_iff in M as [M|M]; [exact M|exfalso].
  apply existsb_exists in M as [s [I M]].
  pose proof all_right as R. rewrite forallb_forall in R.
  destruct (separated_right a b s (R s I) M) as [X Y]. apply Y. now apply H.
Qed.
