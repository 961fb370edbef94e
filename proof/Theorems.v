(* The two theorems: what the checker accepts is so.

     check_satisfied h … level order = true       ->  holds level h
     check_violated  h … level refutation = true  ->  ~ holds level h *)
From Coq Require Import PArith ZArith List Bool FMapPositive Relations.
From Proof Require Import History Levels Digest Index Replay Satisfied Orders
  Model Literals Sources Refutation LevelModels CommitOrders Lattice.
Import ListNotations.

Inductive level :=
  | ReadCommitted | ReadAtomic | Causal | Prefix
  | AdyaSi | SessionSi | GeneralizedSi | StrongSessionSi | StrongSi
  | Serializable | SessionSerializable | StrictSerializable | Linearizable.

Definition holds (l : level) : history -> Prop :=
  match l with
  | ReadCommitted => read_committed
  | ReadAtomic => read_atomic
  | Causal => causal
  | Prefix => prefix
  | AdyaSi => adya_si
  | SessionSi => session_si
  | GeneralizedSi => generalized_si
  | StrongSessionSi => strong_session_si
  | StrongSi => strong_si
  | Serializable => serializable
  | SessionSerializable => session_serializable
  | StrictSerializable => strict_serializable
  | Linearizable => linearizable
  end.

(* What is looked up again and again, once for a history. *)
Record prepared := { looked_up : facts; sure_ones : PM.t unit }.

Definition prepare (h : history) : prepared :=
  let f := facts_of h (digests_of h) in
  {| looked_up := f; sure_ones := certain h f |}.

(* --- satisfied *)

Inductive order_claim :=
  (* events that are executed one after another *)
  | Executed (events : list event)
  (* a commit order, with the source of each read and clocks of causality *)
  | Sourced (co : list txn) (chosen : PM.t (list source)) (clock_of : PM.t clock).

(* Levels of real time are claimed where everybody's times are known. *)
Definition is_timed (h : history) : bool :=
  forallb (fun tb =>
    negb (is_committed (snd tb)) ||
    (is_some (request (began (snd tb))) && is_some (request (ended (snd tb)))))
    (PM.elements (transactions h)).

Definition executes (h : history) (p : prepared) (r : rule) (c : order_claim) : bool :=
  match c with
  | Executed events =>
      check_order h (digests (looked_up p)) (wrote_what (looked_up p)) r events
  | Sourced _ _ _ => false
  end.

Definition weakly (h : history) (p : prepared) (s : seeing) (c : order_claim) : bool :=
  match c with
  | Executed _ => executes h p prefixes c
  | Sourced co chosen clock_of =>
      check_commit_order h (looked_up p) s co chosen clock_of
  end.

Definition single_operations (h : history) (c : order_claim) : bool :=
  match c with
  | Executed events => forallb (fun e => is_one_operation h (fst e)) events
  | Sourced _ _ _ => false
  end.

Definition check_satisfied (h : history) (p : prepared) (l : level)
    (c : order_claim) : bool :=
  match l with
  | ReadCommitted => weakly h p ByEarlierRead c
  | ReadAtomic => weakly h p ByStep c
  | Causal => weakly h p ByPath c
  | Prefix => executes h p prefixes c
  | AdyaSi => executes h p snapshots c
  | SessionSi => executes h p snapshots_in_sessions c
  | GeneralizedSi => is_timed h && executes h p generalized_snapshots c
  | StrongSessionSi => is_timed h && executes h p strong_session_snapshots c
  | StrongSi => is_timed h && executes h p strong_snapshots c
  | Serializable => executes h p serial c
  | SessionSerializable => executes h p serial_in_sessions c
  | StrictSerializable => is_timed h && executes h p serial_in_time c
  | Linearizable =>
      is_timed h && executes h p serial_in_time c && single_operations h c
  end.

Lemma executes_prefix h c : executes h (prepare h) prefixes c = true -> prefix h.
Proof.
  destruct c as [events|]; [|discriminate]. apply prefix_satisfied.
Qed.

Lemma sourced h s co chosen clock_of :
  check_commit_order h (looked_up (prepare h)) s co chosen clock_of = true ->
  match s with
  | ByEarlierRead => read_committed h
  | ByStep => read_atomic h
  | ByPath => causal h
  end.
Proof.
  unfold check_commit_order.
  destruct (run (put h) no_places (both_events co)) as [s0|] eqn:P; [|discriminate].
  rewrite !andb_true_iff. intros [[[[[B A] S] F] W] T].
  rewrite forallb_forall in B. cbn [looked_up prepare] in *.
  pose proof (digests_of_right h) as D.
  assert (wrote_what (facts_of h (digests_of h)) = authors h) as R by reflexivity.
  destruct s.
  - exists (chosen_reading (facts_of h (digests_of h)) chosen s0),
      (the_co (both_events co) s0).
    split; [eapply weak_explains; eauto|]. split; [eapply weak_order; eauto|].
    eapply path_visible; eauto.
  - exists (chosen_reading (facts_of h (digests_of h)) chosen s0),
      (the_co (both_events co) s0).
    split; [eapply weak_explains; eauto|]. split; [eapply weak_order; eauto|].
    eapply step_visible; eauto.
  - exists (chosen_reading (facts_of h (digests_of h)) chosen s0),
      (the_co (both_events co) s0).
    split; [eapply weak_explains; eauto|]. split; [eapply weak_order; eauto|].
    eapply earlier_read_visible; eauto.
Qed.

Theorem satisfied_is_right h l c :
  check_satisfied h (prepare h) l c = true -> holds l h.
Proof.
  assert (forall s, weakly h (prepare h) s c = true -> prefix h \/
    match s with
    | ByEarlierRead => read_committed h
    | ByStep => read_atomic h
    | ByPath => causal h
    end) as weak.
  { intros s W. destruct c as [events|co chosen clock_of]; cbn [weakly] in W.
    - left. now apply executes_prefix in W.
    - right. eapply sourced; eauto. }
  assert (forall a b : bool, a && b = true -> b = true) as second
    by (now intros [|] [|]).
  destruct l; cbn [check_satisfied holds].
  - intros W. destruct (weak ByEarlierRead W) as [X|X]; [|exact X].
    now apply read_atomic_read_committed, causal_read_atomic, prefix_causal.
  - intros W. destruct (weak ByStep W) as [X|X]; [|exact X].
    now apply causal_read_atomic, prefix_causal.
  - intros W. destruct (weak ByPath W) as [X|X]; [|exact X]. now apply prefix_causal.
  - apply executes_prefix.
  - destruct c; [|discriminate]. apply adya_si_satisfied.
  - destruct c; [|discriminate]. apply session_si_satisfied.
  - destruct c; intros W; apply second in W; [|discriminate].
    eapply generalized_si_satisfied; eauto.
  - destruct c; intros W; apply second in W; [|discriminate].
    eapply strong_session_si_satisfied; eauto.
  - destruct c; intros W; apply second in W; [|discriminate].
    eapply strong_si_satisfied; eauto.
  - destruct c; [|discriminate]. apply serializable_satisfied.
  - destruct c; [|discriminate]. apply session_serializable_satisfied.
  - destruct c; intros W; apply second in W; [|discriminate].
    eapply strict_serializable_satisfied; eauto.
  - destruct c; rewrite !andb_true_iff; intros [[_ W] S]; [|discriminate].
    eapply linearizable_satisfied; eauto.
Qed.

(* --- violated *)

Definition strength_of (l : level) : strength :=
  match l with
  | ReadCommitted => weak_strength ByEarlierRead
  | ReadAtomic => weak_strength ByStep
  | Causal => weak_strength ByPath
  | Prefix => prefix_strength
  | AdyaSi => snapshot_strength false []
  | SessionSi => snapshot_strength true []
  | GeneralizedSi => snapshot_strength false in_time
  | StrongSessionSi => snapshot_strength true in_time
  | StrongSi => snapshot_strength true ((Commit, Begin) :: in_time)
  | Serializable => serial_strength false []
  | SessionSerializable => serial_strength true []
  | StrictSerializable | Linearizable => serial_strength true [(Commit, Begin)]
  end.

Lemma level_model l h : holds l h -> has_model h (strength_of l).
Proof.
  destruct l; cbn [holds strength_of].
  - apply read_committed_model.
  - apply read_atomic_model.
  - apply causal_model.
  - apply prefix_model.
  - apply adya_si_model.
  - apply session_si_model.
  - apply generalized_si_model.
  - apply strong_session_si_model.
  - apply strong_si_model.
  - apply serializable_model.
  - apply session_serializable_model.
  - apply strict_serializable_model.
  - intros L. now apply strict_serializable_model, linearizable_strict.
Qed.

(* Linearizability is defined where whoever counts is one operation. *)
Definition is_defined (h : history) (p : prepared) (l : level) : bool :=
  match l with
  | Linearizable => forallb (fun tu => is_one_operation h (fst tu))
      (PM.elements (sure_ones p))
  | _ => true
  end.

Definition check_violated (h : history) (p : prepared) (l : level)
    (steps : list step) : bool :=
  is_defined h p l &&
  refutes h (looked_up p) (strength_of l) (sure_ones p) (PM.empty _) xH steps.

Theorem violated_is_right h l steps :
  check_violated h (prepare h) l steps = true -> ~ holds l h.
Proof.
  unfold check_violated. rewrite andb_true_iff. intros [_ C] H.
  destruct (level_model l h H) as [r [edge [ord M]]].
  eapply (refutes_sound h _ _ _ r edge ord M); [..|exact C].
  - apply digests_of_right.
  - reflexivity.
  - reflexivity.
  - reflexivity.
  - apply (certain_sure h (facts_of h (digests_of h)) (digests_of_right h)
      eq_refl eq_refl r (m_explains h _ r edge ord M) eq_refl).
  - intros m c X. rewrite PM.gempty in X. discriminate.
Qed.

(* No history is both. *)
Corollary never_both h l c steps :
  check_satisfied h (prepare h) l c = true ->
  check_violated h (prepare h) l steps = true -> False.
Proof.
  intros S V. apply violated_is_right in V. apply V. eapply satisfied_is_right; eauto.
Qed.
