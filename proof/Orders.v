(* The theorems about "satisfied": an order that the checker accepts for a level
   shows that the history satisfies it. *)
From Coq Require Import PArith ZArith List Bool FMapPositive Relations Lia.
From Proof Require Import History Levels Digest Index Replay Satisfied.
Import ListNotations.

Definition digests_of (h : history) : PM.t digest :=
  let known := known_keys h in PM.map (digest_of known) (transactions h).

Lemma digests_of_right h t : PM.find t (digests_of h) =
  option_map (digest_of (known_keys h)) (transaction_of h t).
Proof. unfold digests_of, PM.map, transaction_of. apply PM.gmapi. Qed.

(* What each level asks of its orders. *)
Definition serial := {| one_event := true; conflict := false;
  in_sessions := false; by_clock := [] |}.
Definition serial_in_sessions := {| one_event := true; conflict := false;
  in_sessions := true; by_clock := [] |}.
Definition serial_in_time := {| one_event := true; conflict := false;
  in_sessions := true; by_clock := [(Commit, Begin)] |}.
Definition snapshots := {| one_event := false; conflict := true;
  in_sessions := false; by_clock := [] |}.
Definition snapshots_in_sessions := {| one_event := false; conflict := true;
  in_sessions := true; by_clock := [] |}.
Definition commits_in_time := [(Begin, Commit); (Commit, Commit)].
Definition generalized_snapshots := {| one_event := false; conflict := true;
  in_sessions := false; by_clock := commits_in_time |}.
Definition strong_session_snapshots := {| one_event := false; conflict := true;
  in_sessions := true; by_clock := commits_in_time |}.
Definition strong_snapshots := {| one_event := false; conflict := true;
  in_sessions := true; by_clock := (Commit, Begin) :: commits_in_time |}.
Definition prefixes := {| one_event := false; conflict := false;
  in_sessions := true; by_clock := [] |}.

(* What an accepted order gives. *)
Record explained_by (h : history) (ru : rule) (r : reading)
    (before : key -> txn -> txn -> Prop) (lt : event -> event -> Prop) : Prop := {
  e_explains : explains h r;
  e_order : version_order h r before;
  e_irreflexive e : ~ lt e e;
  e_transitive e f g : lt e f -> lt f g -> lt e g;
  e_total s t : took_effect r s = true -> took_effect r t = true -> s <> t ->
    lt (s, Commit) (t, Commit) \/ lt (t, Commit) (s, Commit);
  e_begin t : took_effect r t = true -> lt (t, Begin) (t, Commit);
  e_stated k s t : stated_before h k s t -> lt (s, Commit) (t, Commit);
  e_read s t : read_dependency h r s t -> lt (s, Commit) (t, Begin);
  e_latest t i k s u : reads_from h r t i k s -> writes h u k ->
    lt (u, Commit) (t, Begin) ->
    exists w, s = Some w /\ (w = u \/ lt (u, Commit) (w, Commit));
  e_write s t : write_dependency before s t -> lt (s, Commit) (t, Commit);
  e_anti s t : anti_dependency h r before s t -> lt (s, Begin) (t, Commit);
  e_session s t : in_sessions ru = true -> session_order h r s t ->
    lt (s, Commit) (t, Begin);
  e_conflict s t : conflict ru = true -> write_dependency before s t ->
    lt (s, Commit) (t, Begin);
  e_clock m n s t : In (m, n) (by_clock ru) -> real_time h r s m t n ->
    lt (s, m) (t, n);
  e_once s m t n : one_event ru = true -> lt (s, m) (t, n) -> s <> t ->
    lt (s, Begin) (t, Begin) }.

Section Accepted.
Variable h : history.
Let check (ru : rule) (events : list event) : bool :=
  check_order h (digests_of h) (authors h) ru events.

Theorem accepted_all ru events : check ru events = true ->
  exists r before lt, explained_by h ru r before lt /\
  forall t, took_effect r t = true -> exists e, In e events /\ fst e = t.
Proof.
  unfold check, check_order.
  destruct (run (put h) no_places events) as [s0|] eqn:P; [|discriminate].
  rewrite !andb_true_iff. intros [[[[[[[B A] S] E] F] C] O] T].
  rewrite forallb_forall in B, T.
  pose proof (digests_of_right h) as D.
  exists (the_reading h events s0), (the_order h events s0), (lt events).
  assert (forall x (f : bool), negb f || x = true -> f = true -> x = true) as imp.
  { intros x f H ->. exact H. }
  split; [split|].
  - eapply explained; eauto.
  - eapply order_right; eauto.
  - eapply lt_irreflexive; eauto.
  - eapply lt_transitive; eauto.
  - eapply commits_ordered; eauto.
  - eapply begin_before_commit; eauto.
  - intros k s t H. eapply stated_forward in H; eauto. apply H.
  - eapply reads_forward; eauto.
  - eapply source_is_latest; eauto.
  - intros s t [k [_ [_ L]]]. exact L.
  - eapply overwritten_forward; eauto.
  - intros s t I. eapply sessions_forward; eauto.
  - intros s t I. eapply writers_forward; eauto.
  - intros m n s t I. eapply clocks_forward; eauto. apply (T (m, n) I).
  - intros s m t n I L N. eapply at_once_forward; eauto.
  - intros t K. eapply took_commit in K as [q Q]; [|exact P].
    exists (t, Commit). split; [eapply nth_error_In; eauto|auto].
Qed.

Corollary accepted ru events : check ru events = true ->
  exists r before lt, explained_by h ru r before lt.
Proof.
  intros C. apply accepted_all in C as [r [before [lt [X _]]]]. eauto.
Qed.
End Accepted.

(* What always leads forward has no cycle. *)
Lemma no_cycle {A} (lt : event -> event -> Prop) (f : A -> event)
    (edge : A -> A -> Prop) :
  (forall e, ~ lt e e) -> (forall e f g, lt e f -> lt f g -> lt e g) ->
  (forall x y, edge x y -> lt (f x) (f y)) -> acyclic edge.
Proof.
  intros Irr Tr F x C. apply (Irr (f x)).
  assert (forall y z, clos_trans A edge y z -> lt (f y) (f z)) as T.
  { induction 1; [auto|]. eapply Tr; eauto. }
  auto.
Qed.

Section Theorems.
Variable h : history.
Variable events : list event.
Let check (ru : rule) : bool :=
  check_order h (digests_of h) (authors h) ru events.

(* Dependencies are of different transactions. *)
Lemma read_dependency_others r s t : explains h r -> read_dependency h r s t ->
  s <> t.
Proof.
  intros E [i [k [T [[a S] R]]]].
  exact (proj2 (of_others h r E t i k a s T S R)).
Qed.

Lemma write_dependency_others r before s t : version_order h r before ->
  write_dependency before s t -> s <> t.
Proof. intros O [k B] ->. now apply (irreflexive h r before O) in B. Qed.

Lemma session_others r s t : session_order h r s t -> s <> t.
Proof. intros [_ [_ [a [b [_ [_ [_ [_ L]]]]]]]] ->. lia. Qed.

Section Serial.
Variables (ru : rule) (r : reading) (before : key -> txn -> txn -> Prop)
  (lt : event -> event -> Prop).
Hypothesis X : explained_by h ru r before lt.
Hypothesis once : one_event ru = true.

Lemma serial_edges s t : read_dependency h r s t \/ write_dependency before s t \/
  anti_dependency h r before s t -> lt (s, Begin) (t, Begin).
Proof.
  pose proof (e_once _ _ _ _ _ X) as once'.
  intros [D|[D|D]].
  - apply (once' s Commit t Begin once (e_read _ _ _ _ _ X s t D)).
    exact (read_dependency_others r s t (e_explains _ _ _ _ _ X) D).
  - apply (once' s Commit t Commit once (e_write _ _ _ _ _ X s t D)).
    exact (write_dependency_others r before s t (e_order _ _ _ _ _ X) D).
  - apply (once' s Begin t Commit once (e_anti _ _ _ _ _ X s t D)). apply D.
Qed.

Lemma serial_session s t : in_sessions ru = true -> session_order h r s t ->
  lt (s, Begin) (t, Begin).
Proof.
  intros I D.
  apply (e_once _ _ _ _ _ X s Commit t Begin once
    (e_session _ _ _ _ _ X s t I D)).
  exact (session_others r s t D).
Qed.
End Serial.

Lemma snapshot_forward ru r before lt : explained_by h ru r before lt ->
  conflict ru = true -> forall e f, snapshot_edge h r before e f -> lt e f.
Proof.
  intros X C e f [t T|s t D|s t D|s t D].
  - exact (e_begin _ _ _ _ _ X t T).
  - exact (e_read _ _ _ _ _ X s t D).
  - exact (e_conflict _ _ _ _ _ X s t C D).
  - exact (e_anti _ _ _ _ _ X s t D).
Qed.

(* Every theorem below: the choices that the order makes, and its events as
   the direction in which all edges lead. *)
Ltac take_order C :=
  apply accepted in C as [r [before [lt X]]]; exists r, before;
  split; [eapply e_explains; eassumption|];
  split; [eapply e_order; eassumption|].
Ltac leads_forward f :=
  match goal with X : explained_by _ _ _ _ ?lt |- _ => apply (no_cycle lt f) end;
  [eapply e_irreflexive; eassumption|eapply e_transitive; eassumption|].

Theorem serializable_satisfied : check serial = true -> serializable h.
Proof.
  intros C. take_order C. leads_forward (fun t : txn => (t, Begin)).
  exact (serial_edges serial r before lt X eq_refl).
Qed.

Theorem session_serializable_satisfied :
  check serial_in_sessions = true -> session_serializable h.
Proof.
  intros C. take_order C. leads_forward (fun t : txn => (t, Begin)).
  intros s t [D|[D|[D|D]]]; [..|exact (serial_session _ _ _ _ X eq_refl s t eq_refl D)];
    apply (serial_edges _ _ _ _ X eq_refl); tauto.
Qed.

Theorem strict_serializable_satisfied :
  check serial_in_time = true -> strict_serializable h.
Proof.
  intros C. take_order C. leads_forward (fun t : txn => (t, Begin)).
  intros s t [D|[D|[D|[D|D]]]];
    [..|exact (serial_session _ _ _ _ X eq_refl s t eq_refl D)|];
    try (apply (serial_edges _ _ _ _ X eq_refl); tauto).
  apply (e_once _ _ _ _ _ X s Commit t Begin eq_refl); [|apply D].
  apply (e_clock _ _ _ _ _ X Commit Begin s t); [simpl; auto|exact D].
Qed.

(* Every transaction of the order is one operation on one key. *)
Definition is_one_operation (t : txn) : bool :=
  match transaction_of h t with
  | Some b => match operations b with
      | [Range _ _ _] => false
      | [_] => true
      | _ => false
      end
  | None => false
  end.

Lemma is_one_operation_right t : is_one_operation t = true -> one_operation h t.
Proof.
  unfold is_one_operation, one_operation.
  destruct (transaction_of h t) as [b|]; [|discriminate].
  destruct (operations b) as [|o [|o' ops]] eqn:O; try discriminate;
    [|destruct o; discriminate].
  intros H. exists b, o. split; [auto|]. split; [auto|].
  intros low high rows ->. discriminate.
Qed.

Theorem linearizable_satisfied : check serial_in_time = true ->
  forallb (fun e => is_one_operation (fst e)) events = true -> linearizable h.
Proof.
  intros C F. apply accepted_all in C as [r [before [lt [X V]]]].
  exists r, before.
  split; [exact (e_explains _ _ _ _ _ X)|]. split; [exact (e_order _ _ _ _ _ X)|].
  split.
  - intros t T. apply is_one_operation_right. rewrite forallb_forall in F.
    destruct (V t T) as [e [I <-]]. auto.
  - leads_forward (fun t : txn => (t, Begin)).
    intros s t [D|[D|[D|[D|D]]]];
      [..|exact (serial_session _ _ _ _ X eq_refl s t eq_refl D)|];
      try (apply (serial_edges _ _ _ _ X eq_refl); tauto).
    apply (e_once _ _ _ _ _ X s Commit t Begin eq_refl); [|apply D].
    apply (e_clock _ _ _ _ _ X Commit Begin s t); [simpl; auto|exact D].
Qed.

Theorem adya_si_satisfied : check snapshots = true -> adya_si h.
Proof.
  intros C. take_order C. leads_forward (fun e : event => e).
  exact (snapshot_forward _ _ _ _ X eq_refl).
Qed.

Lemma session_forward ru r before lt : explained_by h ru r before lt ->
  in_sessions ru = true -> forall e f, session_edge h r e f -> lt e f.
Proof.
  intros X I e f [s t D]. exact (e_session _ _ _ _ _ X s t I D).
Qed.

Lemma commit_time_forward ru r before lt : explained_by h ru r before lt ->
  incl commits_in_time (by_clock ru) ->
  forall e f, commit_time_edge h r e f -> lt e f.
Proof.
  intros X I e f [s m t D]. apply (e_clock _ _ _ _ _ X m Commit s t); [|exact D].
  apply I. destruct m; simpl; auto.
Qed.

Theorem session_si_satisfied :
  check snapshots_in_sessions = true -> session_si h.
Proof.
  intros C. take_order C. leads_forward (fun e : event => e).
  intros e f [D|D]; [exact (snapshot_forward _ _ _ _ X eq_refl e f D)|].
  exact (session_forward _ _ _ _ X eq_refl e f D).
Qed.

Theorem generalized_si_satisfied :
  check generalized_snapshots = true -> generalized_si h.
Proof.
  intros C. take_order C. leads_forward (fun e : event => e).
  intros e f [D|D]; [exact (snapshot_forward _ _ _ _ X eq_refl e f D)|].
  apply (commit_time_forward _ _ _ _ X); [apply incl_refl|exact D].
Qed.

Theorem strong_session_si_satisfied :
  check strong_session_snapshots = true -> strong_session_si h.
Proof.
  intros C. take_order C. leads_forward (fun e : event => e).
  intros e f [D|[D|D]]; [exact (snapshot_forward _ _ _ _ X eq_refl e f D)| |].
  - exact (session_forward _ _ _ _ X eq_refl e f D).
  - apply (commit_time_forward _ _ _ _ X); [apply incl_refl|exact D].
Qed.

Theorem strong_si_satisfied : check strong_snapshots = true -> strong_si h.
Proof.
  intros C. take_order C. leads_forward (fun e : event => e).
  intros e f [D|[D|[D|D]]]; [exact (snapshot_forward _ _ _ _ X eq_refl e f D)| | |].
  - exact (session_forward _ _ _ _ X eq_refl e f D).
  - apply (commit_time_forward _ _ _ _ X); [|exact D].
    intros x I. right. exact I.
  - destruct D as [s t D]. apply (e_clock _ _ _ _ _ X Commit Begin s t);
      [simpl; auto|exact D].
Qed.

Theorem prefix_satisfied : check prefixes = true -> prefix h.
Proof.
  intros C. apply accepted in C as [r [before [lt X]]].
  pose proof (e_transitive _ _ _ _ _ X) as trans.
  exists r, (fun s t => took_effect r s = true /\ took_effect r t = true /\
    lt (s, Commit) (t, Commit)).
  assert (forall s t, session_or_read h r s t ->
    took_effect r s = true /\ took_effect r t = true /\ lt (s, Commit) (t, Begin))
    as sees.
  { intros s t [D|D].
    - split; [apply D|]. split; [apply D|].
      exact (e_session _ _ _ _ _ X s t eq_refl D).
    - pose proof (e_read _ _ _ _ _ X s t D) as L.
      destruct D as [i [k [T [[a S] R]]]].
      split; [|auto].
      exact (proj1 (of_others h r (e_explains _ _ _ _ _ X) t i k a s T S R)). }
  assert (forall s t, session_or_read h r s t ->
    took_effect r s = true /\ took_effect r t = true /\
    lt (s, Commit) (t, Commit)) as later.
  { intros s t D. destruct (sees s t D) as [S [T L]]. split; [auto|].
    split; [auto|]. apply (trans _ _ _ L), (e_begin _ _ _ _ _ X t T). }
  split; [exact (e_explains _ _ _ _ _ X)|]. split; [split|].
  - intros s [_ [_ L]]. exact (e_irreflexive _ _ _ _ _ X _ L).
  - intros s t u [S [_ L]] [_ [U M]]. split; [auto|]. split; [auto|].
    exact (trans _ _ _ L M).
  - intros s t S T N. destruct (e_total _ _ _ _ _ X s t S T N); auto.
  - intros s t D. apply later. now left.
  - intros s t D. apply later. now right.
  - intros k s t D. pose proof (e_stated _ _ _ _ _ X k s t D) as L.
    pose proof D as D'. apply (follows_stated h r before (e_order _ _ _ _ _ X)) in D'.
    apply (of_writers h r before (e_order _ _ _ _ _ X)) in D' as [S T].
    split; [apply S|]. split; [apply T|exact L].
  - intros t1 t2 t3 i x R [W1 W2] N [t [V D]].
    destruct (sees t t3 D) as [_ [_ L]].
    assert (lt (t2, Commit) (t3, Begin)) as M.
    { destruct V as [->|[_ [_ V]]]; [exact L|exact (trans _ _ _ V L)]. }
    destruct (e_latest _ _ _ _ _ X t3 i x t1 t2 R W2 M) as [w [-> [->|Q]]];
      [congruence|].
    exists w. split; [auto|]. split; [auto|]. split; [|exact Q].
    destruct R as [T [[a S] R]].
    exact (proj1 (of_others h r (e_explains _ _ _ _ _ X) t3 i x a w T S R)).
Qed.
End Theorems.
