(* Each level has what a refutation appeals to (Model.v). *)
From Coq Require Import PArith List Bool Relations Lia.
From Proof Require Import History Levels Model.
Import ListNotations.

Lemma reads_took h r : explains h r -> forall t i k s, reads_from h r t i k (Some s) ->
  took_effect r s = true /\ s <> t /\ writer h r s k.
Proof.
  intros E t i k s [T [[a S] R]].
  destruct (of_others h r E t i k a s T S R) as [W N].
  split; [auto|]. split; [auto|]. split; [auto|].
  destruct (other_reads h r E t i k a T S) as [x [F _]]. rewrite R in F.
  exists x. exact F.
Qed.

(* --- levels that are a graph without a cycle *)

Section Graph.
Variables (h : history) (l : strength) (r : reading)
  (before : key -> txn -> txn -> Prop) (edge : event -> event -> Prop).
Hypothesis E : explains h r.
Hypothesis O : version_order h r before.
Hypothesis acyc : acyclic edge.
Hypothesis by_path : shown l = ByPath.
Hypothesis begin_edge : forall t, one_event_each l = false ->
  took_effect r t = true -> edge (t, Begin) (t, Commit).
Hypothesis read_edge : forall s t, read_dependency h r s t ->
  edge (node l (s, Commit)) (node l (t, Begin)).
Hypothesis session_edge_ : forall s t, has_sessions l = true ->
  session_order h r s t -> edge (node l (s, Commit)) (node l (t, Begin)).
Hypothesis clock_edge : forall m n s t, In (m, n) (clocks l) ->
  real_time h r s m t n -> edge (node l (s, m)) (node l (t, n)).
Hypothesis write_edge : forall s t, write_dependency before s t ->
  edge (node l (s, Commit)) (node l (overwriter l t)).
Hypothesis anti_edge : forall s t, anti_dependency h r before s t ->
  edge (node l (s, Begin)) (node l (t, Commit)).

(* Who got to the begin of a transaction gets to its commit. *)
Lemma to_commit x t : took_effect r t = true ->
  clos_trans event edge x (node l (t, Begin)) ->
  clos_trans event edge x (node l (t, Commit)).
Proof.
  intros T C. unfold node in *. destruct (one_event_each l) eqn:N; [exact C|].
  eapply t_trans; [exact C|]. apply t_step. now apply begin_edge.
Qed.

Lemma from_overwriter x t : took_effect r t = true ->
  clos_trans event edge x (node l (overwriter l t)) ->
  clos_trans event edge x (node l (t, Commit)).
Proof.
  unfold overwriter. intros T C. destruct (writes_at_begin l); [|exact C].
  now apply to_commit.
Qed.

Lemma path_edges s t : clos_trans txn (steps_to h r l) s t ->
  clos_trans event edge (node l (s, Commit)) (node l (t, Begin)).
Proof.
  assert (forall s t, steps_to h r l s t -> took_effect r t = true) as T.
  { intros a b [[i [k [X _]]]|[_ [_ [X _]]]]; exact X. }
  induction 1 as [s t S|s t u S1 IH1 S2 IH2].
  - apply t_step. destruct S as [S|[L S]]; auto.
  - eapply t_trans; [|exact IH2]. apply to_commit; [|exact IH1].
    clear IH1 IH2 S2. induction S1; eauto.
Qed.

Lemma saw_edges s t i : saw h r l s t i ->
  clos_trans event edge (node l (s, Commit)) (node l (t, Begin)).
Proof. unfold saw. rewrite by_path. apply path_edges. Qed.

Lemma anti_cycle s t : anti_dependency h r before s t ->
  clos_trans event edge (node l (t, Commit)) (node l (s, Begin)) -> False.
Proof.
  intros A C. apply (acyc (node l (s, Begin))).
  eapply t_trans; [apply t_step, anti_edge, A|exact C].
Qed.

Lemma writes_dependent s t : write_dependency before s t ->
  took_effect r s = true /\ took_effect r t = true.
Proof.
  intros [k B]. destruct (of_writers h r before O k s t B) as [[S _] [T _]]. auto.
Qed.

Lemma not_both a b : write_dependency before a b -> write_dependency before b a ->
  False.
Proof.
  intros A B. destruct (writes_dependent a b A) as [Ta Tb].
  apply (acyc (node l (a, Commit))). eapply t_trans.
  - apply from_overwriter; [exact Tb|]. apply t_step, write_edge, A.
  - apply from_overwriter; [exact Ta|]. apply t_step, write_edge, B.
Qed.

Lemma graph_model : model h l r edge (write_dependency before).
Proof.
  split; auto.
  - intros a b k A B N. destruct (total h r before O k a b A B N);
      [left|right]; exists k; auto.
  - exact not_both.
  - intros k a b S. exists k. now apply (follows_stated h r before O).
  - intros s t i k v _ R W N V P. apply anti_edge. split; [exact N|].
    exists i, k. destruct v as [w|]; [left|right; auto]. exists w.
    split; [exact R|]. destruct (reads_took h r E s i k w R) as [_ [_ Ww]].
    destruct (total h r before O k w t Ww W) as [B|B]; [congruence|exact B|].
    exfalso. apply (not_both w t); [now apply P|exists k; exact B].
  - intros a b t i k R W Nb Nt S. exists k.
    destruct (reads_took h r E t i k b R) as [_ [_ Wb]].
    destruct (total h r before O k a b W Wb Nb) as [B|B]; [exact B|].
    exfalso. apply (anti_cycle t a); [|now apply (saw_edges a t i)].
    split; [auto|]. exists i, k. left. exists b. auto.
  - intros a t i k R W N S. apply (anti_cycle t a); [|now apply (saw_edges a t i)].
    split; [auto|]. exists i, k. right. auto.
  - intros t i j k s s' _ R R'.
    assert (forall i j s u, reads_from h r t i k s -> reads_from h r t j k (Some u) ->
      s <> Some u -> (forall w, s = Some w -> before k w u) -> False) as X.
    { intros i' j' x u Rx Ru N B.
      destruct (reads_took h r E t j' k u Ru) as [_ [Nu Wu]].
      apply (anti_cycle t u).
      - split; [auto|]. exists i', k. destruct x as [w|]; [left|right; auto].
        exists w. auto.
      - apply t_step, read_edge. exists j', k. exact Ru. }
    destruct s as [a|], s' as [b|]; [| | |reflexivity].
    + destruct (Pos.eq_dec a b) as [->|N]; [reflexivity|exfalso].
      destruct (reads_took h r E t i k a R) as [_ [_ Wa]].
      destruct (reads_took h r E t j k b R') as [_ [_ Wb]].
      destruct (total h r before O k a b Wa Wb N) as [B|B].
      * apply (X i j (Some a) b); auto; [congruence|].
        intros w Q. now injection Q as <-.
      * apply (X j i (Some b) a); auto; [congruence|].
        intros w Q. now injection Q as <-.
    + exfalso. apply (X j i None a); auto; discriminate.
    + exfalso. apply (X i j None b); auto; discriminate.
Qed.
End Graph.

Definition serial_strength (s : bool) (c : list (moment * moment)) := {|
  one_event_each := true; versions := true; writes_at_begin := true;
  has_sessions := s; clocks := c; shown := ByPath |}.
Definition snapshot_strength (s : bool) (c : list (moment * moment)) := {|
  one_event_each := false; versions := true; writes_at_begin := true;
  has_sessions := s; clocks := c; shown := ByPath |}.

Definition has_model (h : history) (l : strength) : Prop :=
  exists r edge ord, model h l r edge ord.

(* A graph of transactions is one of their begins. *)
Lemma acyclic_begins (edge : txn -> txn -> Prop) : acyclic edge ->
  acyclic (fun e f : event => edge (fst e) (fst f)).
Proof.
  intros A x C. apply (A (fst x)).
  assert (forall y z, clos_trans event (fun e f => edge (fst e) (fst f)) y z ->
    clos_trans txn edge (fst y) (fst z)) as T.
  { induction 1; [now apply t_step|eapply t_trans; eauto]. }
  auto.
Qed.

Lemma serializable_model h : serializable h ->
  has_model h (serial_strength false []).
Proof.
  intros [r [before [E [O A]]]].
  eexists r, _, (write_dependency before).
  eapply (graph_model h _ r before _ E O (acyclic_begins _ A));
    cbn; intros; (discriminate || contradiction || tauto).
Qed.

Lemma session_serializable_model h : session_serializable h ->
  has_model h (serial_strength true []).
Proof.
  intros [r [before [E [O A]]]].
  eexists r, _, (write_dependency before).
  eapply (graph_model h _ r before _ E O (acyclic_begins _ A));
    cbn; intros; (discriminate || contradiction || tauto).
Qed.

Lemma strict_serializable_model h : strict_serializable h ->
  has_model h (serial_strength true [(Commit, Begin)]).
Proof.
  intros [r [before [E [O A]]]].
  eexists r, _, (write_dependency before).
  eapply (graph_model h _ r before _ E O (acyclic_begins _ A));
    cbn; intros; try (discriminate || contradiction || tauto).
  destruct H as [X|[]]. injection X as <- <-. tauto.
Qed.

Definition in_time := [(Begin, Commit); (Commit, Commit)].

Ltac snapshot_edges := cbn; intros; try (discriminate || contradiction);
  try match goal with H : _ \/ _ |- _ => decompose [or] H; clear H end;
  try match goal with H : (_, _) = (_, _) |- _ => injection H as <- <- end;
  try contradiction; eauto 8 using snapshot_edge, session_edge,
    commit_time_edge, start_time_edge.

Lemma adya_si_model h : adya_si h -> has_model h (snapshot_strength false []).
Proof.
  intros [r [before [E [O A]]]]. eexists r, _, (write_dependency before).
  eapply (graph_model h _ r before _ E O A); snapshot_edges.
Qed.

Lemma session_si_model h : session_si h -> has_model h (snapshot_strength true []).
Proof.
  intros [r [before [E [O A]]]]. eexists r, _, (write_dependency before).
  eapply (graph_model h _ r before _ E O A); snapshot_edges.
Qed.

Lemma generalized_si_model h : generalized_si h ->
  has_model h (snapshot_strength false in_time).
Proof.
  intros [r [before [E [O A]]]]. eexists r, _, (write_dependency before).
  eapply (graph_model h _ r before _ E O A); snapshot_edges.
Qed.

Lemma strong_session_si_model h : strong_session_si h ->
  has_model h (snapshot_strength true in_time).
Proof.
  intros [r [before [E [O A]]]]. eexists r, _, (write_dependency before).
  eapply (graph_model h _ r before _ E O A); snapshot_edges.
Qed.

Lemma strong_si_model h : strong_si h ->
  has_model h (snapshot_strength true ((Commit, Begin) :: in_time)).
Proof.
  intros [r [before [E [O A]]]]. eexists r, _, (write_dependency before).
  eapply (graph_model h _ r before _ E O A); snapshot_edges.
Qed.

(* --- levels that are an axiom over a commit order *)

Lemma order_acyclic h r co : commit_order h r co -> acyclic co.
Proof.
  intros C x X. apply (co_irreflexive h r co C x).
  assert (forall y z, clos_trans txn co y z -> co y z) as T.
  { induction 1; [auto|]. eapply (co_transitive h r co C); eauto. }
  auto.
Qed.

Section ByAxiom.
Variables (h : history) (r : reading) (co : txn -> txn -> Prop)
  (visible : txn -> txn -> nat -> Prop).
Hypothesis E : explains h r.
Hypothesis C : commit_order h r co.
Hypothesis A : axiom h r co visible.

Lemma visible_before b a t i k : reads_from h r t i k (Some b) ->
  writer h r a k -> a <> b -> visible a t i -> co a b.
Proof.
  intros R W N V. destruct (A (Some b) a t i k R W) as [x [X L]];
    [congruence|exact V|]. now injection X as ->.
Qed.

Lemma visible_not_unseen a t i k : reads_from h r t i k None ->
  writer h r a k -> visible a t i -> False.
Proof.
  intros R W V. destruct (A None a t i k R W) as [x [X _]];
    [discriminate|exact V|discriminate].
Qed.

(* All reads of a key are of one writer if who is read is visible. *)
Lemma one_source t i j k s s' :
  (forall u n, read_dependency h r u t -> visible u t n) ->
  reads_from h r t i k s -> reads_from h r t j k s' -> s = s'.
Proof.
  intros V R R'.
  destruct s as [a|], s' as [b|]; [| | |reflexivity].
  - destruct (Pos.eq_dec a b) as [->|N]; [reflexivity|exfalso].
    destruct (reads_took h r E t i k a R) as [_ [_ Wa]].
    destruct (reads_took h r E t j k b R') as [_ [_ Wb]].
    apply (co_irreflexive h r co C a). apply (co_transitive h r co C a b a).
    + apply (visible_before b a t j k R' Wa N), V. exists i, k. exact R.
    + apply (visible_before a b t i k R Wb); [congruence|]. apply V. exists j, k.
      exact R'.
  - exfalso. destruct (reads_took h r E t i k a R) as [_ [_ Wa]].
    apply (visible_not_unseen a t j k R' Wa), V. exists i, k. exact R.
  - exfalso. destruct (reads_took h r E t j k b R') as [_ [_ Wb]].
    apply (visible_not_unseen b t i k R Wb), V. exists j, k. exact R'.
Qed.

Definition weak_strength (s : seeing) := {|
  one_event_each := true; versions := false; writes_at_begin := true;
  has_sessions := true; clocks := []; shown := s |}.

Lemma axiom_model s :
  (forall a t i, saw h r (weak_strength s) a t i -> visible a t i) ->
  (s <> ByEarlierRead ->
    forall u t n, read_dependency h r u t -> visible u t n) ->
  model h (weak_strength s) r (fun e f => co (fst e) (fst f)) co.
Proof.
  intros S V. split; auto; cbn.
  - now apply acyclic_begins, (order_acyclic h r).
  - discriminate.
  - apply (contains_reads_from h r co C).
  - intros a b _. apply (contains_session_order h r co C).
  - intros m n a b [].
  - intros a b k [Ta _] [Tb _]. now apply (co_total h r co C).
  - intros a b X Y. apply (co_irreflexive h r co C a).
    now apply (co_transitive h r co C a b a).
  - apply (contains_stated h r co C).
  - discriminate.
  - intros a b t i k R W N _ X. apply (visible_before b a t i k R W N). auto.
  - intros a t i k R W _ X. apply (visible_not_unseen a t i k R W). auto.
  - intros t i j k x y N. apply one_source. intros u n. now apply V.
Qed.
End ByAxiom.

Lemma steps_session_or_read h r s a t : steps_to h r (weak_strength s) a t ->
  session_or_read h r a t.
Proof. intros [X|[_ X]]; [now right|now left]. Qed.

Lemma path_session_or_read h r s a t :
  clos_trans txn (steps_to h r (weak_strength s)) a t ->
  clos_trans txn (session_or_read h r) a t.
Proof.
  induction 1; [apply t_step; eapply steps_session_or_read; eauto|].
  eapply t_trans; eauto.
Qed.

Lemma read_committed_model h : read_committed h ->
  has_model h (weak_strength ByEarlierRead).
Proof.
  intros [r [co [E [C A]]]]. do 3 eexists. eapply axiom_model; eauto. congruence.
Qed.

Lemma read_atomic_model h : read_atomic h -> has_model h (weak_strength ByStep).
Proof.
  intros [r [co [E [C A]]]]. do 3 eexists. eapply axiom_model; eauto; cbn.
  - intros a t _. apply steps_session_or_read.
  - intros _ u t _ X. now right.
Qed.

Lemma causal_model h : causal h -> has_model h (weak_strength ByPath).
Proof.
  intros [r [co [E [C A]]]]. do 3 eexists. eapply axiom_model; eauto; cbn.
  - intros a t _. apply path_session_or_read.
  - intros _ u t _ X. apply t_step. now right.
Qed.

(* --- prefix: a transaction begins right behind all that it sees *)

Definition prefix_strength := {|
  one_event_each := false; versions := true; writes_at_begin := false;
  has_sessions := true; clocks := []; shown := ByPath |}.

Lemma later h r co s t : commit_order h r co -> session_or_read h r s t -> co s t.
Proof.
  intros C [X|X]; [now apply (contains_session_order h r co C)|].
  now apply (contains_reads_from h r co C).
Qed.

(* A transaction begins behind all that it has to see, and what was committed
   before that: events, of which there is no cycle. *)
Section Cuts.
Variables (h : history) (r : reading) (co : txn -> txn -> Prop).
Variable has_to_see : txn -> txn -> Prop.
Hypothesis C : commit_order h r co.
Hypothesis see_later : forall s t, has_to_see s t -> co s t.

Definition in_cut (t2 t3 : txn) : Prop :=
  exists t, (t2 = t \/ co t2 t) /\ has_to_see t t3.

(* What has been committed when an event happens. *)
Definition done_at (e : event) (u : txn) : Prop :=
  match snd e with Begin => in_cut u (fst e) | Commit => co u (fst e) end.

Definition cut_edge (e f : event) : Prop :=
  match snd e with
  | Commit => took_effect r (fst e) = true /\ done_at f (fst e)
  | Begin => snd f = Commit /\ took_effect r (fst e) = true /\
      took_effect r (fst f) = true /\ ~ done_at e (fst f)
  end.

Lemma in_cut_before u t : in_cut u t -> co u t.
Proof.
  intros [s [[->|X] Y]]; apply see_later in Y; [exact Y|].
  now apply (co_transitive h r co C u s t).
Qed.

Lemma done_down e u v : co u v -> done_at e v -> done_at e u.
Proof.
  unfold done_at. destruct (snd e).
  - intros X [s [Y Z]]. exists s. split; [|exact Z]. right.
    destruct Y as [->|Y]; [exact X|]. now apply (co_transitive h r co C u v s).
  - intros X Y. now apply (co_transitive h r co C u v (fst e)).
Qed.

Lemma done_took e u : done_at e u -> took_effect r u = true ->
  forall t, ~ done_at e t -> took_effect r t = true -> co u t.
Proof.
  intros D U t N T. destruct (Pos.eq_dec u t) as [->|X]; [contradiction|].
  destruct (co_total h r co C u t U T X) as [Y|Y]; [exact Y|].
  exfalso. apply N. now apply (done_down e t u).
Qed.

Lemma edge_grows e f : cut_edge e f -> forall u, took_effect r u = true ->
  done_at e u -> done_at f u.
Proof.
  unfold cut_edge. intros X u U D. destruct (snd e) eqn:S.
  - destruct X as [F [_ [T N]]]. unfold done_at at 1. rewrite F.
    now apply (done_took e u D U).
  - unfold done_at in D. rewrite S in D. eapply done_down; [exact D|apply X].
Qed.

Lemma path_grows e f : clos_trans event cut_edge e f ->
  forall u, took_effect r u = true -> done_at e u -> done_at f u.
Proof.
  induction 1; intros u U D; [eapply edge_grows; eauto|auto].
Qed.

(* On a cycle some transaction commits, and would have done so before itself. *)
Lemma no_commit_cycle t : took_effect r t = true ->
  ~ clos_trans event cut_edge (t, Commit) (t, Commit).
Proof.
  intros T X. apply (co_irreflexive h r co C t). change (done_at (t, Commit) t).
  apply clos_trans_t1n in X. inversion X as [y Y|y z Y Z]; subst.
  - apply Y.
  - apply clos_t1n_trans in Z. apply (path_grows _ _ Z t T). apply Y.
Qed.

Lemma cut_acyclic : acyclic cut_edge.
Proof.
  assert (forall t, ~ clos_trans event cut_edge (t, Commit) (t, Commit)) as no.
  { intros t X. apply (no_commit_cycle t); [|exact X].
    apply clos_trans_t1n in X. inversion X as [y Y|y z Y Z]; subst; apply Y. }
  intros [t [|]] X; [|exact (no t X)].
  assert (exists u, cut_edge (t, Begin) (u, Commit) /\
    clos_trans event cut_edge (u, Commit) (t, Begin)) as [u [Y Z]].
  { apply clos_trans_t1n in X. inversion X as [y Y|[u m] z Y Z]; subst.
    - destruct Y as [Y _]. discriminate.
    - destruct Y as [M Y]. cbn [snd] in M. subst m. exists u.
      split; [split; auto|]. now apply clos_t1n_trans. }
  apply (no u). eapply t_trans; [exact Z|now apply t_step].
Qed.

End Cuts.

Section Prefix.
Variables (h : history) (r : reading) (co : txn -> txn -> Prop).
Hypothesis E : explains h r.
Hypothesis C : commit_order h r co.

Notation in_prefix := (in_cut co (session_or_read h r)).
Notation prefix_edge := (cut_edge r co (session_or_read h r)).
Hypothesis A : axiom h r co (fun t2 t3 _ => in_prefix t2 t3).

Lemma in_prefix_before u t : in_prefix u t -> co u t.
Proof.
  apply (in_cut_before h r co _ C). intros x y. now apply (later h r co).
Qed.

Definition prefix_ord (a b : txn) : Prop :=
  took_effect r a = true /\ took_effect r b = true /\ co a b.

Lemma stated_took k a b : stated_before h k a b ->
  took_effect r a = true /\ took_effect r b = true.
Proof.
  intros [order [i [j [O [_ [N1 [N2 _]]]]]]].
  split; apply (stated_take_effect h r E); exists k, order; eauto.
Qed.

Lemma path_visible a t : clos_trans txn (steps_to h r prefix_strength) a t ->
  in_prefix a t.
Proof.
  assert (forall a t, steps_to h r prefix_strength a t -> session_or_read h r a t)
    as S by (intros x y [X|[_ X]]; [now right|now left]).
  intros X. apply clos_trans_tn1 in X. induction X as [t X|u t X Y IH].
  - exists a. auto.
  - exists u. split; [|auto]. right. now apply in_prefix_before.
Qed.

Lemma prefix_model_ : model h prefix_strength r prefix_edge prefix_ord.
Proof.
  split; auto; cbn.
  - exact (cut_acyclic h r co _ C).
  - intros t _ T. split; [auto|]. split; [auto|]. split; [auto|]. cbn.
    intros X. apply in_prefix_before in X. now apply (co_irreflexive h r co C t).
  - intros s t [i [k X]]. split; cbn.
    + now apply (reads_took h r E t i k s X).
    + exists s. split; [auto|]. right. exists i, k. exact X.
  - intros s t _ X. split; cbn; [apply X|]. exists s. split; [auto|now left].
  - intros m n s t [].
  - intros a b k [Ta _] [Tb _] N. unfold prefix_ord.
    destruct (co_total h r co C a b Ta Tb N); auto.
  - intros a b [_ [_ X]] [_ [_ Y]]. apply (co_irreflexive h r co C a).
    now apply (co_transitive h r co C a b a).
  - intros a b [Ta [Tb X]]. split; cbn; [exact Ta|exact X].
  - intros k a b S. destruct (stated_took k a b S) as [Ta Tb].
    split; [auto|]. split; [auto|]. now apply (contains_stated h r co C k).
  - intros s t i k v _ R W N V P. split; [auto|]. split; [apply R|].
    split; [apply W|]. cbn. intros X.
    destruct (A v t s i k R W V X) as [w [-> Y]].
    destruct (P w eq_refl) as [_ [_ Z]]. apply (co_irreflexive h r co C t).
    now apply (co_transitive h r co C t w t).
  - intros a b t i k R W N _ S. destruct (reads_took h r E t i k b R) as [Tb _].
    split; [apply W|]. split; [exact Tb|].
    apply (visible_before h r co (fun x y _ => in_prefix x y) A b a t i k R W N).
    now apply path_visible.
  - intros a t i k R W _ S.
    apply (visible_not_unseen h r co (fun x y _ => in_prefix x y) A a t i k R W).
    now apply path_visible.
  - intros t i j k x y _.
    apply (one_source h r co (fun x y _ => in_prefix x y) E C A).
    intros u n D. exists u. split; [auto|now right].
Qed.
End Prefix.

Lemma prefix_model h : prefix h -> has_model h prefix_strength.
Proof.
  intros [r [co [E [C A]]]]. do 3 eexists. now apply (prefix_model_ h r co).
Qed.
