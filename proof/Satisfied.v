(* A history satisfies a level if an order of events explains it: the order is
   a certificate, which this checker executes and then believes.

   Why that is enough: let each transaction read what the last writer before
   its begin left, and let versions have the order of the commits. Then every
   edge of the graph that the level draws leads from an earlier event to a
   later one, and what always leads forward has no cycle. *)
From Coq Require Import PArith ZArith List Bool FMapPositive Relations Lia.
From Proof Require Import History Levels Digest Index Replay.
Import ListNotations.

(* What a level asks of the order besides. *)
Record rule := {
  one_event : bool;    (* commits follow begins at once *)
  conflict : bool;     (* no two writers of a key overlap *)
  in_sessions : bool;
  by_clock : list (moment * moment) }.

Definition is_some {A} (x : option A) : bool :=
  match x with Some _ => true | None => false end.

(* Those that a stated order names stand in this order. *)
Fixpoint increasing (commits : PM.t positive) (last : option positive)
    (names : list (option txn)) : bool :=
  match names with
  | [] => true
  | None :: rest => increasing commits last rest
  | Some t :: rest =>
      match PM.find t commits with
      | None => false
      | Some p =>
          match last with Some q => Pos.leb q p | None => true end &&
          increasing commits (Some p) rest
      end
  end.

Lemma increasing_after commits names : forall last,
  increasing commits last names = true ->
  forall i t, nth_error names i = Some (Some t) ->
  exists p, PM.find t commits = Some p /\
    match last with Some q => (q <= p)%positive | None => True end.
Proof.
  induction names as [|[t|] names IH]; intros last H [|i] u E; simpl in *;
    try discriminate.
  - injection E as <-. destruct (PM.find t commits) as [p|]; [|discriminate].
    exists p. split; [auto|]. apply andb_true_iff in H as [H _].
    destruct last; [now apply Pos.leb_le|exact I].
  - destruct (PM.find t commits) as [p|]; [|discriminate].
    apply andb_true_iff in H as [H1 H2].
    destruct (IH _ H2 _ _ E) as [q [Q1 Q2]]. exists q. split; [auto|].
    destruct last; [|exact I]. apply Pos.leb_le in H1. lia.
  - eauto.
Qed.

Lemma increasing_spec commits names : forall last i j s t,
  increasing commits last names = true -> i < j ->
  nth_error names i = Some (Some s) -> nth_error names j = Some (Some t) ->
  exists p q, PM.find s commits = Some p /\ PM.find t commits = Some q /\
    (p <= q)%positive.
Proof.
  induction names as [|[u|] names IH]; intros last [|i] [|j] s t H L S T;
    simpl in *; try lia; try discriminate.
  - injection S as <-. destruct (PM.find u commits) as [p|]; [|discriminate].
    apply andb_true_iff in H as [_ H].
    destruct (increasing_after _ _ _ H _ _ T) as [q [Q1 Q2]]. eauto.
  - destruct (PM.find u commits) as [p|]; [|discriminate].
    apply andb_true_iff in H as [_ H]. apply (IH _ i j _ _ H); auto. lia.
  - apply (IH _ i j _ _ H); auto. lia.
Qed.

Section Check.
Variable h : history.
Variable digests : PM.t digest.
Variable idx : index.

Definition stated_in_order (commits : PM.t positive) : bool :=
  forallb (fun ko =>
    increasing commits None (names_from h idx (fst ko) true (snd ko)))
    (stated_orders h).

Definition all_committed (commits : PM.t positive) : bool :=
  forallb (fun tb => match status (snd tb) with
    | Committed => PM.mem (fst tb) commits
    | _ => true end) (PM.elements (transactions h)).

Definition check_order (r : rule) (events : list event) : bool :=
  match run (put h) no_places events with
  | None => false
  | Some s =>
      forallb (fun e => PM.mem (fst e) (commits s)) events &&
      all_committed (commits s) &&
      stated_in_order (commits s) &&
      is_some (run (execute h digests) (PM.empty _) events) &&
      (negb (in_sessions r) || is_some (run (follow h) (PM.empty _) events)) &&
      (negb (conflict r) ||
        is_some (run (exclude digests (begins s)) (1%positive, PM.empty _) events)) &&
      (negb (one_event r) || is_some (run at_once None events)) &&
      forallb (fun mn => is_some
        (run (tick h (fst mn) (snd mn)) (None, PM.empty _) events)) (by_clock r)
  end.
End Check.

Lemma is_some_elim {A} (x : option A) : is_some x = true -> exists y, x = Some y.
Proof. destruct x; [eauto|discriminate]. Qed.

Section Sound.
Variable h : history.
Variable digests : PM.t digest.
Hypothesis digests_right : forall t, PM.find t digests =
  option_map (digest_of (known_keys h)) (transaction_of h t).
Variable ru : rule.
Variable events : list event.
Variable s0 : places.
Hypothesis placed : run (put h) no_places events = Some s0.
Hypothesis both : forall e, In e events -> PM.mem (fst e) (commits s0) = true.
Hypothesis everybody : all_committed h (commits s0) = true.
Hypothesis stated_right : stated_in_order h (authors h) (commits s0) = true.
Hypothesis executed : is_some (run (execute h digests) (PM.empty _) events) = true.

Lemma places_right : well_placed events s0 /\
  forall p e, at_place events p e -> rightly_placed h (firstn p events) e.
Proof.
  destruct (run_spec (put h) _ _ (put_spec h) no_places events s0) as [H1 H2].
  - split; [|intros t []]. split; [reflexivity|].
    split; intros t p; simpl; rewrite PM.gempty;
      (split; [discriminate|intros [[|q] [E _]]; discriminate]).
  - exact placed.
  - split; [apply H1|exact H2].
Qed.

Lemma executed_right p e : at_place events p e ->
  sees_what_is_there h (firstn p events) e.
Proof.
  apply is_some_elim in executed as [z R].
  apply (run_spec (execute h digests) _ _ (execute_spec h digests digests_right)
    (PM.empty _) events z); [|exact R]. intros k. now rewrite PM.gempty.
Qed.

Definition took (t : txn) : bool := PM.mem t (commits s0).

Lemma took_commit t : took t = true <-> exists q, at_place events q (t, Commit).
Proof.
  unfold took. rewrite PM.mem_find.
  destruct places_right as [[_ [_ C]] _]. specialize (C t).
  destruct (PM.find t (commits s0)) as [p|].
  - split; [|auto]. intros _. destruct (proj1 (C p) eq_refl) as [q [E _]]. eauto.
  - split; [discriminate|]. intros [q E].
    assert (None = Some (spot q)) by (apply C; eauto). discriminate.
Qed.

Lemma place_unique p q e : at_place events p e -> at_place events q e -> p = q.
Proof.
  intros P Q. destruct places_right as [_ R].
  destruct (Nat.lt_trichotomy p q) as [L|[E|L]]; [|exact E|]; exfalso.
  - apply (R q e Q). eapply nth_error_In, at_firstn. eauto.
  - apply (R p e P). eapply nth_error_In, at_firstn. eauto.
Qed.

Lemma took_begin t : took t = true <-> exists p, at_place events p (t, Begin).
Proof.
  rewrite took_commit. split.
  - intros [q E]. destruct places_right as [_ R].
    destruct (R q _ E) as [_ [B _]]. specialize (B eq_refl). cbn [fst] in B.
    apply In_nth_error in B as [p B]. apply at_firstn in B as [_ B]. eauto.
  - intros [p E]. apply took_commit. unfold took.
    apply (both (t, Begin)). eapply nth_error_In. eauto.
Qed.

(* --- earlier and later events *)

Definition lt (e f : event) : Prop :=
  exists p q, at_place events p e /\ at_place events q f /\ p < q.

Lemma lt_irreflexive e : ~ lt e e.
Proof. intros [p [q [P [Q L]]]]. pose proof (place_unique p q e P Q). lia. Qed.

Lemma lt_transitive e f g : lt e f -> lt f g -> lt e g.
Proof.
  intros [p [q [P [Q L]]]] [q' [r [Q' [R M]]]].
  pose proof (place_unique q q' f Q Q'). exists p, r. repeat split; auto. lia.
Qed.

Lemma lt_or e f p q : at_place events p e -> at_place events q f -> e <> f ->
  lt e f \/ lt f e.
Proof.
  intros P Q N. destruct (Nat.lt_trichotomy p q) as [L|[E|L]].
  - left. exists p, q. auto.
  - subst. congruence.
  - right. exists q, p. auto.
Qed.

Lemma forward_acyclic {A} (f : A -> event) (edge : A -> A -> Prop) :
  (forall x y, edge x y -> lt (f x) (f y)) -> acyclic edge.
Proof.
  intros F x C. apply (lt_irreflexive (f x)).
  assert (forall y z, clos_trans A edge y z -> lt (f y) (f z)) as T.
  { induction 1; [auto|]. eapply lt_transitive; eauto. }
  auto.
Qed.

Lemma begin_before_commit t : took t = true -> lt (t, Begin) (t, Commit).
Proof.
  rewrite took_commit. intros [q E]. destruct places_right as [_ R].
  destruct (R q _ E) as [_ [B _]]. specialize (B eq_refl). cbn [fst] in B.
  apply In_nth_error in B as [p B]. apply at_firstn in B as [L B].
  exists p, q. auto.
Qed.

(* --- who reads from whom *)

Definition before_begin (t : txn) : list event :=
  match PM.find t (begins s0) with
  | Some p => firstn (pred (Pos.to_nat p)) events
  | None => []
  end.

Lemma before_begin_spec t p : at_place events p (t, Begin) ->
  before_begin t = firstn p events.
Proof.
  intros E. destruct places_right as [[_ [B _]] _]. unfold before_begin.
  assert (PM.find t (begins s0) = Some (spot p)) as -> by (apply B; eauto).
  unfold spot. now rewrite SuccNat2Pos.id_succ.
Qed.

Definition the_reading : reading := {|
  took_effect := took;
  read_from t i k := writer_of (last_writer h (before_begin t) k) |}.

Lemma explained : explains h the_reading.
Proof.
  assert (forall t, took t = true -> exists p, at_place events p (t, Begin) /\
    before_begin t = firstn p events /\
    sees_what_is_there h (firstn p events) (t, Begin)) as at_begin.
  { intros t T. apply took_begin in T as [p E]. exists p. split; [auto|].
    split; [now apply before_begin_spec|now apply executed_right]. }
  split; cbn [took_effect read_from the_reading].
  - intros t [b [T C]]. unfold all_committed in everybody.
    rewrite forallb_forall in everybody.
    apply elements_iff in T. specialize (everybody _ T). simpl in everybody.
    now rewrite C in everybody.
  - intros t T. apply took_commit in T as [q E]. destruct places_right as [_ R].
    destruct (R q _ E) as [_ [_ B]]. exact B.
  - intros t [k [order [i [O N]]]]. unfold stated_in_order in stated_right.
    rewrite forallb_forall in stated_right. specialize (stated_right _ O).
    simpl in stated_right. apply names_spec in N.
    destruct (increasing_after _ _ _ stated_right _ _ N) as [p [P _]].
    unfold took. now rewrite PM.mem_find, P.
  - intros t i a x T S. destruct (at_begin t T) as [p [_ [_ H]]].
    destruct (H eq_refl) as [H1 _]. eauto.
  - intros t i k a T S. destruct (at_begin t T) as [p [_ [-> H]]].
    destruct (H eq_refl) as [_ [H2 _]]. eauto.
  - intros t i k a w T S. destruct (at_begin t T) as [p [P [-> _]]].
    pose proof (last_writer_latest h (firstn p events) k) as L.
    destruct (last_writer h (firstn p events) k) as [[u x]|]; [|discriminate].
    intros E. injection E as ->. destruct L as [_ [q [Q _]]].
    apply at_firstn in Q as [L Q]. split; [apply took_commit; eauto|].
    intros ->. destruct (begin_before_commit t T) as [p' [q' [P' [Q' L']]]].
    pose proof (place_unique _ _ _ P P'). pose proof (place_unique _ _ _ Q Q'). lia.
  - intros t i w k a T S1 S2. destruct (at_begin t T) as [p [_ [-> H]]].
    destruct (H eq_refl) as [_ [_ H3]]. eauto.
Qed.

Definition the_order (k : key) (s t : txn) : Prop :=
  writer h the_reading s k /\ writer h the_reading t k /\
  lt (s, Commit) (t, Commit).

Lemma commits_ordered s t : took s = true -> took t = true -> s <> t ->
  lt (s, Commit) (t, Commit) \/ lt (t, Commit) (s, Commit).
Proof.
  intros S T N. apply took_commit in S as [p P]. apply took_commit in T as [q Q].
  eapply lt_or; eauto. congruence.
Qed.

Lemma stated_forward k s t : stated_before h k s t ->
  lt (s, Commit) (t, Commit) /\ writes h s k /\ writes h t k.
Proof.
  intros [order [i [j [O [L [S [T N]]]]]]].
  assert (writes h s k /\ writes h t k) as W.
  { apply named_entry in S as [e [_ S]]. apply named_entry in T as [f [_ T]].
    split; [clear T; destruct e as [v|u [v|]]|clear S; destruct f as [v|u [v|]]];
      cbn [name_of] in *.
    - destruct S as [_ [_ [S _]]]. eapply wrote_writes; eauto.
    - destruct S as [-> S]. eapply wrote_writes; eauto.
    - destruct S as [-> [v S]]. eapply wrote_writes; eauto.
    - destruct T as [_ [_ [T _]]]. eapply wrote_writes; eauto.
    - destruct T as [-> T]. eapply wrote_writes; eauto.
    - destruct T as [-> [v T]]. eapply wrote_writes; eauto. }
  split; [|exact W].
  unfold stated_in_order in stated_right. rewrite forallb_forall in stated_right.
  specialize (stated_right _ O). simpl in stated_right.
  apply names_spec in S. apply names_spec in T.
  destruct (increasing_spec _ _ _ _ _ _ _ stated_right L S T)
    as [p [q [P [Q M]]]].
  destruct places_right as [[_ [_ C]] _]. apply C in P as [p' [P ->]].
  apply C in Q as [q' [Q ->]]. exists p', q'. split; [auto|]. split; [auto|].
  assert (p' <> q') by (intros ->; congruence). unfold spot in M. lia.
Qed.

Lemma order_right : version_order h the_reading the_order.
Proof.
  split.
  - intros k s [_ [_ L]]. now apply lt_irreflexive in L.
  - intros k s t u [S [_ L]] [_ [U M]]. split; [auto|]. split; [auto|].
    eapply lt_transitive; eauto.
  - intros k s t S T N. unfold the_order.
    destruct (commits_ordered s t); auto; [apply S|apply T].
  - intros k s t [S [T _]]. auto.
  - intros k s t S. destruct (stated_forward k s t S) as [L [W1 W2]].
    assert (took s = true /\ took t = true) as [T1 T2].
    { destruct L as [p [q [P [Q _]]]]. split; apply took_commit; eauto. }
    split; [split; auto|]. split; [split; auto|exact L].
Qed.

(* --- every edge leads forward *)

Lemma reads_at t i k s : reads_from h the_reading t i k s ->
  exists p, at_place events p (t, Begin) /\
    s = writer_of (last_writer h (firstn p events) k) /\ took t = true.
Proof.
  intros [T [_ <-]]. cbn [took_effect the_reading] in T. pose proof T as T'.
  apply took_begin in T' as [p P]. exists p. split; [auto|]. simpl.
  split; [|auto]. now rewrite (before_begin_spec t p P).
Qed.

Lemma reads_forward s t : read_dependency h the_reading s t ->
  lt (s, Commit) (t, Begin).
Proof.
  intros [i [k R]]. apply reads_at in R as [p [P [E _]]].
  pose proof (last_writer_latest h (firstn p events) k) as L.
  destruct (last_writer h (firstn p events) k) as [[w x]|]; [|discriminate].
  injection E as ->. destruct L as [_ [q [Q _]]]. apply at_firstn in Q as [L Q].
  exists q, p. auto.
Qed.

(* Who writes a key before a transaction begins is not after its source. *)
Lemma source_is_latest t i k s u : reads_from h the_reading t i k s ->
  writes h u k -> lt (u, Commit) (t, Begin) ->
  exists w, s = Some w /\ (w = u \/ lt (u, Commit) (w, Commit)).
Proof.
  intros R [x W] [q [p' [Q [P' L]]]]. apply reads_at in R as [p [P [-> _]]].
  pose proof (place_unique _ _ _ P P') as <-.
  pose proof (last_writer_latest h (firstn p events) k) as A.
  destruct (last_writer h (firstn p events) k) as [[w y]|]; simpl in *.
  - destruct A as [_ [r [A B]]]. exists w. split; [auto|].
    destruct (Nat.lt_trichotomy q r) as [M|[->|M]].
    + right. apply at_firstn in A as [_ A]. exists q, r. auto.
    + left. apply at_firstn in A as [_ A]. congruence.
    + assert (leaves h u k = None) by (apply (B q); [auto|now apply at_firstn]).
      congruence.
  - assert (leaves h u k = None) by (apply (A q); now apply at_firstn). congruence.
Qed.

Lemma overwritten_forward s t : anti_dependency h the_reading the_order s t ->
  lt (s, Begin) (t, Commit).
Proof.
  intros [_ [i [k A]]].
  assert (exists v, reads_from h the_reading s i k v /\ writer h the_reading t k /\
    forall w, v = Some w -> lt (w, Commit) (t, Commit)) as [v [R [[T W] F]]].
  { destruct A as [[w [R [_ [T L]]]]|[R T]].
    - exists (Some w). split; [exact R|]. split; [exact T|].
      intros x E. now injection E as <-.
    - exists None. split; [exact R|]. split; [exact T|discriminate]. }
  pose proof (reads_at _ _ _ _ R) as [p [P [_ _]]].
  cbn [took_effect the_reading] in T. apply took_commit in T as [q Q].
  destruct (lt_or _ _ _ _ P Q) as [L|L]; [discriminate|exact L|exfalso].
  destruct (source_is_latest _ _ _ _ _ R W L) as [w [E [->|M]]].
  - apply (lt_irreflexive (t, Commit)). auto.
  - apply (lt_irreflexive (t, Commit)). eapply lt_transitive; eauto.
Qed.

Lemma sessions_forward :
  is_some (run (follow h) (PM.empty _) events) = true ->
  forall s t, session_order h the_reading s t -> lt (s, Commit) (t, Begin).
Proof.
  intros F s t [S [T O]]. apply is_some_elim in F as [z F].
  cbn [took_effect the_reading] in *.
  apply took_commit in S as [q Q]. apply took_begin in T as [p P].
  destruct (lt_or _ _ _ _ Q P) as [L|[p' [q' [P' [Q' L]]]]];
    [discriminate|auto|exfalso].
  destruct (run_spec (follow h) _ _ (follow_spec h) (PM.empty _) events z)
    as [_ H]; [intros u b []|exact F|].
  apply (H q' _ Q' eq_refl t); [|exact O].
  eapply nth_error_In, at_firstn. eauto.
Qed.

Lemma clocks_forward m n :
  is_some (run (tick h m n) (None, PM.empty _) events) = true ->
  forall s t, real_time h the_reading s m t n -> lt (s, m) (t, n).
Proof.
  intros F s t [S [T [N O]]]. apply is_some_elim in F as [z F].
  cbn [took_effect the_reading] in *.
  assert (forall u x, took u = true -> exists p, at_place events p (u, x)) as P.
  { intros u [|] U; [now apply took_begin|now apply took_commit]. }
  destruct (P s m S) as [p Ps]. destruct (P t n T) as [q Pt].
  destruct (lt_or _ _ _ _ Ps Pt) as [L|[p' [q' [P' [Q' L]]]]];
    [congruence|auto|exfalso].
  destruct (run_spec (tick h m n) _ _ (tick_spec h m n) (None, PM.empty _) events z)
    as [_ H]; [intros u b y []|exact F|].
  apply (H q' _ Q' eq_refl t); [|exact O].
  eapply nth_error_In, at_firstn. eauto.
Qed.

Lemma writers_forward :
  is_some (run (exclude digests (begins s0)) (1%positive, PM.empty _) events)
    = true ->
  forall s t, write_dependency the_order s t -> lt (s, Commit) (t, Begin).
Proof.
  intros F s t [k [[_ S] [[_ T] [p [q [P [Q L]]]]]]].
  apply is_some_elim in F as [z F].
  destruct (run_spec (exclude digests (begins s0)) _ _
    (exclude_spec h digests digests_right (begins s0)) (1%positive, PM.empty _)
    events z) as [_ H]; [|exact F|].
  - split; [reflexivity|]. split; simpl.
    + intros u x. rewrite PM.gempty. discriminate.
    + intros u [|x] y; discriminate.
  - destruct (H q _ Q eq_refl s p k) as [b [B M]]; auto.
    { now apply at_firstn. }
    cbn [fst] in B. destruct places_right as [[_ [C _]] _].
    apply C in B as [r [R ->]]. exists p, r. repeat split; auto.
    now apply spot_lt.
Qed.

Section OneEvent.
Hypothesis once : is_some (run at_once None events) = true.

Lemma commit_follows t q : at_place events q (t, Commit) ->
  exists p, q = S p /\ at_place events p (t, Begin).
Proof.
  intros Q. apply is_some_elim in once as [z F].
  destruct (run_spec at_once _ _ at_once_spec None events z I F) as [_ H].
  destruct (H q _ Q eq_refl) as [d D]. cbn [fst] in D. exists (length d).
  pose proof (f_equal (@length event) D) as E. rewrite app_length in E.
  simpl in E. rewrite firstn_length_le in E by (apply at_length in Q; lia).
  split; [lia|].
  assert (at_place (firstn q events) (length d) (t, Begin)) as B.
  { rewrite D. apply at_snoc. auto. }
  now apply at_firstn in B.
Qed.

(* So both events of a transaction are on the same side of every other. *)
Lemma at_once_forward s m t n : lt (s, m) (t, n) -> s <> t ->
  lt (s, Begin) (t, Begin).
Proof.
  intros L N.
  assert (lt (s, Begin) (t, n)) as M.
  { destruct m; [exact L|]. eapply lt_transitive; [|exact L].
    apply begin_before_commit, took_commit.
    destruct L as [p [_ [P _]]]. eauto. }
  destruct n; [exact M|]. destruct M as [p [q [P [Q M]]]].
  destruct (commit_follows t q Q) as [r [-> R]]. exists p, r.
  repeat split; auto. assert (p <> r) by (intros ->; congruence). lia.
Qed.
End OneEvent.
End Sound.
