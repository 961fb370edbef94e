(* PL-3 and PL-SI in Adya's own words, and that they are the same histories as in
   Levels.v: his graph has an edge to the next version alone, where Levels.v has
   one to all later ones; and his snapshot isolation excludes G-SIa and G-SIb for
   a time-precedes order, where Levels.v excludes cycles of events. *)
From Coq Require Import PArith List Bool FMapPositive Relations Lia.
From Proof Require Import History Levels Digest LevelModels Extension Decided Lattice
  SnapshotPrefix.
Import ListNotations.

Section Next.
Variables (h : history) (r : reading) (before : key -> txn -> txn -> Prop).
Hypothesis E : explains h r.
Hypothesis O : version_order h r before.

Definition between (k : key) (s u t : txn) : Prop := before k s u /\ before k u t.

(* T wrote the version right after that of S; or the first one. *)
Definition next (k : key) (s t : txn) : Prop :=
  before k s t /\ ~ exists u, between k s u t.
Definition first (k : key) (t : txn) : Prop :=
  writer h r t k /\ ~ exists u, before k u t.

(* Directly read-, write- and anti-depends (Adya's definitions of these words). *)
Definition directly_depends (s t : txn) : Prop :=
  read_dependency h r s t \/ (exists k, next k s t) \/
  (s <> t /\ exists i k,
    (exists w, reads_from h r s i k (Some w) /\ next k w t) \/
    (reads_from h r s i k None /\ first k t)).

Definition depends (s t : txn) : Prop :=
  read_dependency h r s t \/ write_dependency before s t \/
  anti_dependency h r before s t.

Lemma before_took k s t : before k s t ->
  took_effect r s = true /\ took_effect r t = true.
Proof.
  intros B. destruct (of_writers h r before O k s t B) as [[S _] [T _]]. auto.
Qed.

(* Among the candidates that lie between, look for one. *)
Lemma next_one k t : forall n l s, length l <= n -> before k s t ->
  (forall u, between k s u t -> In u l) ->
  exists u, next k s u /\ (u = t \/ before k u t).
Proof.
  intros n l s _ B _.
  assert (forall m l t, length l <= m -> before k s t ->
    (forall u, between k s u t -> In u l) ->
    exists u, next k s u /\ (u = t \/ before k u t)) as X.
  { clear t n l B. induction m as [|m IH]; intros l t L B C.
    - exists t. split; [|auto]. split; [exact B|]. intros [u U].
      destruct l; [exact (C u U)|simpl in L; lia].
    - destruct (before_took k s t B) as [S T].
      destruct (some_or_none (fun u => took_effect r u = true /\ between k s u t) l)
        as [[u [I [_ U]]]|N].
      + intros u _. unfold between. destruct (took_effect r u) eqn:Tu;
          [|right; intros [X _]; discriminate].
        destruct (before_decided h r before O k s u S Tu);
          destruct (before_decided h r before O k u t Tu T); tauto.
      + destruct (IH (remove Pos.eq_dec u l) u) as [v [V W]].
        * pose proof (remove_length_lt Pos.eq_dec l u I). unfold txn in *. lia.
        * apply U.
        * intros v [V1 V2]. apply in_in_remove.
          -- intros ->. exact (irreflexive h r before O k u V2).
          -- apply C. split; [exact V1|].
             exact (transitive h r before O k v u t V2 (proj2 U)).
        * exists v. split; [exact V|]. right. destruct W as [->|W]; [apply U|].
          exact (transitive h r before O k v u t W (proj2 U)).
      + exists t. split; [|auto]. split; [exact B|]. intros [u U]. apply N.
        exists u. split; [now apply C|]. split; [|exact U].
        now apply (before_took k s u (proj1 U)). }
  apply (X (length (took_ones h r)) (took_ones h r)); auto.
  intros u [U _]. apply (took_ones_spec h r E). now apply (before_took k s u).
Qed.

Lemma next_after k s t : before k s t ->
  exists u, next k s u /\ (u = t \/ before k u t).
Proof.
  intros B. apply (next_one k t (length (took_ones h r)) (took_ones h r)); auto.
  intros u [U _]. apply (took_ones_spec h r E). now apply (before_took k s u).
Qed.

Lemma first_before k : forall n l t, length l <= n -> writer h r t k ->
  (forall u, before k u t -> In u l) ->
  exists u, first k u /\ (u = t \/ before k u t).
Proof.
  induction n as [|n IH]; intros l t L W C.
  - exists t. split; [|auto]. split; [exact W|]. intros [u U].
    destruct l; [exact (C u U)|simpl in L; lia].
  - destruct (some_or_none (fun u => took_effect r u = true /\ before k u t) l)
      as [[u [I [_ U]]]|N].
    + intros u _. destruct (took_effect r u) eqn:Tu;
        [|right; intros [X _]; discriminate].
      destruct (before_decided h r before O k u t Tu (proj1 W)); tauto.
    + destruct (IH (remove Pos.eq_dec u l) u) as [v [V X]].
      * pose proof (remove_length_lt Pos.eq_dec l u I). unfold txn in *. lia.
      * exact (proj1 (of_writers h r before O k u t U)).
      * intros v V. apply in_in_remove.
        -- intros ->. exact (irreflexive h r before O k u V).
        -- apply C. exact (transitive h r before O k v u t V U).
      * exists v. split; [exact V|]. right. destruct X as [->|X]; [exact U|].
        exact (transitive h r before O k v u t X U).
    + exists t. split; [|auto]. split; [exact W|]. intros [u U]. apply N.
      exists u. split; [now apply C|]. split; [|exact U].
      now apply (before_took k u t).
Qed.

(* Later versions are reached one by one. *)
Lemma before_path k t : forall n l s, length l <= n -> before k s t ->
  (forall u, between k s u t -> In u l) -> clos_trans txn directly_depends s t.
Proof.
  induction n as [|n IH]; intros l s L B C.
  - apply t_step. right. left. exists k. split; [exact B|]. intros [u U].
    destruct l; [exact (C u U)|simpl in L; lia].
  - destruct (next_after k s t B) as [u [N [->|U]]];
      [apply t_step; right; left; exists k; exact N|].
    eapply t_trans; [apply t_step; right; left; exists k; exact N|].
    apply (IH (remove Pos.eq_dec u l)); [|exact U|].
    + pose proof (remove_length_lt Pos.eq_dec l u (C u (conj (proj1 N) U))).
      unfold txn in *. lia.
    + intros v [V1 V2]. apply in_in_remove.
      * intros ->. exact (irreflexive h r before O k u V1).
      * apply C. split; [|exact V2].
        exact (transitive h r before O k s u v (proj1 N) V1).
Qed.

Lemma before_reached k s t : before k s t -> clos_trans txn directly_depends s t.
Proof.
  intros B. apply (before_path k t (length (took_ones h r)) (took_ones h r)); auto.
  intros u [U _]. apply (took_ones_spec h r E). now apply (before_took k s u).
Qed.

(* From the version after the one that was read, or from the reader's own. *)
Lemma onward s k u t : s <> t -> u = s \/ directly_depends s u ->
  u = t \/ before k u t -> clos_trans txn directly_depends s t.
Proof.
  intros N [Q|D] [Q'|B].
  - congruence.
  - subst u. exact (before_reached k s t B).
  - subst u. now apply t_step.
  - eapply t_trans; [apply t_step; exact D|exact (before_reached k u t B)].
Qed.

Lemma depends_reached s t : depends s t -> clos_trans txn directly_depends s t.
Proof.
  intros [D|[[k B]|[N [i [k [[w [R B]]|[R W]]]]]]].
  - apply t_step. now left.
  - now apply (before_reached k).
  - destruct (next_after k w t B) as [u [X Y]]. apply (onward s k u t N); [|exact Y].
    destruct (Pos.eq_dec u s) as [Q|Q]; [now left|right].
    right. right. split; [congruence|]. exists i, k. left. exists w. auto.
  - destruct (first_before k (length (took_ones h r)) (took_ones h r) t)
      as [u [X Y]]; auto.
    { intros u U. apply (took_ones_spec h r E). now apply (before_took k u t). }
    apply (onward s k u t N); [|exact Y].
    destruct (Pos.eq_dec u s) as [Q|Q]; [now left|right].
    right. right. split; [congruence|]. exists i, k. right. auto.
Qed.

Theorem same_cycles : acyclic directly_depends <-> acyclic depends.
Proof.
  split; intros A.
  - intros x C. apply (A x).
    assert (forall y z, clos_trans txn depends y z ->
      clos_trans txn directly_depends y z) as T.
    { induction 1; [now apply depends_reached|eapply t_trans; eauto]. }
    auto.
  - refine (acyclic_weaker _ _ _ A). intros x y [D|[[k D]|[N [i [k D]]]]].
    + now left.
    + right. left. exists k. apply D.
    + right. right. split; [exact N|]. exists i, k.
      destruct D as [[w [R X]]|[R X]]; [left; exists w|right];
        (split; [exact R|]); apply X.
Qed.
End Next.

(* So [serializable] is PL-3 as Adya has it. *)
Theorem serializable_is_pl3 h : serializable h <->
  exists r before, explains h r /\ version_order h r before /\
  acyclic (directly_depends h r before).
Proof.
  split; intros [r [before [E [O A]]]]; exists r, before;
    (split; [exact E|]); (split; [exact O|]);
    now apply (same_cycles h r before E O).
Qed.

(* --- PL-SI *)

(* Adya's snapshot isolation speaks of a time-precedes order of the events in
   which a transaction starts and commits. Here is one that is total. *)
Definition time_precedes (h : history) (r : reading)
    (time : event -> event -> Prop) : Prop :=
  total_order (all_events h r) time /\
  forall t, took_effect r t = true -> time (t, Begin) (t, Commit).

Section SnapshotIsolation.
Variables (h : history) (r : reading) (before : key -> txn -> txn -> Prop)
  (time : event -> event -> Prop).

(* T started after S had committed. *)
Definition start_depends (s t : txn) : Prop := time (s, Commit) (t, Begin).

(* G-SIa, interference: a read or write dependency without a start dependency. *)
Definition g_si_a : Prop := exists s t,
  (read_dependency h r s t \/ write_dependency before s t) /\ ~ start_depends s t.

(* G-SIb, missed effects: a cycle with exactly one anti-dependency. *)
Definition g_si_b : Prop := exists s t, anti_dependency h r before s t /\
  clos_trans txn (fun a b => read_dependency h r a b \/ write_dependency before a b \/
    start_depends a b) t s.
End SnapshotIsolation.

Definition pl_si (h : history) : Prop :=
  exists r before time, explains h r /\ version_order h r before /\
  time_precedes h r time /\
  ~ g_si_a h r before time /\ ~ g_si_b h r before time.

Lemma adya_si_pl_si h : adya_si h -> pl_si h.
Proof.
  intros [r [before [E [O A]]]].
  destruct (extension _ A (length (all_events h r)) (all_events h r))
    as [time [TO F]]; auto.
  - now apply all_events_distinct.
  - intros [s m] [t n] S T. apply (all_events_spec h r E) in S, T. destruct m, n.
    + right. intros X. inversion X.
    + destruct (anti_decided h r before E O s t S T) as [D|D]; [left; now constructor|].
      destruct (Pos.eq_dec s t) as [->|N]; [left; now constructor|].
      right. intros X. inversion X; subst; contradiction.
    + destruct (read_decided h r E s t T) as [D|D]; [left; now constructor|].
      destruct (write_decided h r before E O s t S T) as [W|W];
        [left; now constructor|].
      right. intros X. inversion X; subst; contradiction.
    + right. intros X. inversion X.
  - intros [s m] [t n] _ _. destruct (Pos.eq_dec s t) as [->|N]; [|right; congruence].
    destruct m, n; (now left) || (right; congruence).
  - assert (forall s m t n, took_effect r s = true -> took_effect r t = true ->
      snapshot_edge h r before (s, m) (t, n) -> time (s, m) (t, n)) as F'.
    { intros s m t n S T X. apply F; auto; now apply (all_events_spec h r E). }
    assert (forall t, took_effect r t = true -> time (t, Begin) (t, Commit)) as B.
    { intros t T. apply F'; auto. now constructor. }
    assert (forall s t, read_dependency h r s t \/ write_dependency before s t ->
      time (s, Commit) (t, Begin)) as D.
    { intros s t [X|X].
      - pose proof X as [i [k R]]. apply F'; [|apply R|now constructor].
        apply (reads_took h r E t i k s R).
      - pose proof X as [k Y].
        destruct (of_writers h r before O k s t Y) as [[S _] [T _]].
        apply F'; auto. now constructor. }
    exists r, before, time. split; [exact E|]. split; [exact O|]. split; [split; auto|].
    split.
    + intros [s [t [X N]]]. apply N. now apply D.
    + intros [s [t [X P]]].
      assert (forall a b, clos_trans txn (fun a b => read_dependency h r a b \/
        write_dependency before a b \/ start_depends time a b) a b ->
        time (a, Commit) (b, Begin)) as Q.
      { induction 1 as [a b [Y|[Y|Y]]|a b c _ IH1 _ IH2]; auto.
        assert (took_effect r b = true) as T.
        { destruct (t_inside _ time TO _ _ IH1) as [_ I].
          now apply (all_events_spec h r E) in I. }
        apply (t_transitive _ time TO _ _ _ IH1).
        exact (t_transitive _ time TO _ _ _ (B b T) IH2). }
      specialize (Q t s P). destruct (t_inside _ time TO _ _ Q) as [It Is].
      apply (all_events_spec h r E) in It, Is.
      apply (t_irreflexive _ time TO (s, Begin)).
      apply (t_transitive _ time TO _ (t, Commit)); [|exact Q].
      apply F'; auto. now constructor.
Qed.

Lemma pl_si_adya_si h : pl_si h -> adya_si h.
Proof.
  intros [r [before [time [E [O [[TO B] [NA NB]]]]]]]. exists r, before.
  split; [exact E|]. split; [exact O|].
  assert (forall s t, took_effect r s = true -> took_effect r t = true -> s <> t ->
    time (s, Commit) (t, Begin) \/ time (t, Begin) (s, Commit)) as either.
  { intros s t S T N.
    apply (t_total _ time TO); try (now apply (all_events_spec h r E)). congruence. }
  assert (forall s t, read_dependency h r s t \/ write_dependency before s t ->
    time (s, Commit) (t, Begin)) as D.
  { intros s t X.
    assert (took_effect r s = true /\ took_effect r t = true /\ s <> t) as [S [T N]].
    { destruct X as [[i [k R]]|[k Y]].
      - destruct (reads_took h r E t i k s R) as [S [N _]]. split; [exact S|].
        split; [apply R|exact N].
      - destruct (of_writers h r before O k s t Y) as [[S _] [T _]].
        split; [exact S|]. split; [exact T|]. intros ->.
        exact (irreflexive h r before O k t Y). }
    destruct (either s t S T N) as [Y|Y]; [exact Y|exfalso]. apply NA. exists s, t.
    split; [exact X|]. intros Z. apply (t_irreflexive _ time TO (s, Commit)).
    exact (t_transitive _ time TO _ _ _ Z Y). }
  apply (acyclic_weaker time).
  - intros e f [t T|s t X|s t X|s t X]; auto.
    pose proof X as [N [i [k Y]]].
    assert (took_effect r s = true /\ took_effect r t = true) as [S T].
    { destruct Y as [[w [R P]]|[R [W _]]]; (split; [apply R|]); [|exact W].
      now destruct (of_writers h r before O k w t P) as [_ [W _]]. }
    destruct (either t s T S) as [Z|Z]; [congruence|exfalso|exact Z].
    apply NB. exists s, t. split; [exact X|]. apply t_step. now right; right.
  - intros x C. apply (t_irreflexive _ time TO x).
    assert (forall y z, clos_trans event time y z -> time y z) as Q.
    { induction 1; [auto|]. eapply (t_transitive _ time TO); eauto. }
    auto.
Qed.

Theorem adya_si_is_pl_si h : adya_si h <-> pl_si h.
Proof. split; [apply adya_si_pl_si|apply pl_si_adya_si]. Qed.
