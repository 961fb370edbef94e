(* Snapshot isolation with sessions implies prefix consistency.

   The events of snapshot isolation have no cycle, so that there is a total order
   of them; the order of its commits is the commit order. What a transaction sees
   committed before it began, and so did the prefix before that. *)
From Coq Require Import PArith List Bool FMapPositive Relations Lia FinFun.
From Proof Require Import History Levels Digest LevelModels Extension Decided.
Import ListNotations.

Section Arrow.
Variables (h : history) (r : reading) (before : key -> txn -> txn -> Prop).
Hypothesis E : explains h r.
Hypothesis O : version_order h r before.

Definition edge (e f : event) : Prop :=
  snapshot_edge h r before e f \/ session_edge h r e f.
Hypothesis acyc : acyclic edge.

(* --- all events, and that it is decided which of them an edge joins *)

Definition all_events : list event :=
  map (fun t => (t, Begin)) (took_ones h r) ++
  map (fun t => (t, Commit)) (took_ones h r).

Lemma all_events_spec t m : In (t, m) all_events <-> took_effect r t = true.
Proof.
  unfold all_events. rewrite in_app_iff, !in_map_iff, <- (took_ones_spec h r E). split.
  - intros [[u [X I]]|[u [X I]]]; injection X as <- _; exact I.
  - intros I. destruct m; [left|right]; exists t; auto.
Qed.

Lemma elements_distinct : NoDup (map fst (PM.elements (transactions h))).
Proof.
  pose proof (PM.elements_3w (transactions h)) as Z.
  induction Z as [|[k y] l N Z IH]; [constructor|]. simpl. constructor; [|exact IH].
  intros I. apply N. apply in_map_iff in I as [[k' y'] [X I]]. simpl in X. subst.
  apply SetoidList.InA_alt. exists (k, y'). split; [reflexivity|exact I].
Qed.

Lemma distinct_app {A} (l m : list A) : NoDup l -> NoDup m ->
  (forall x, In x l -> ~ In x m) -> NoDup (l ++ m).
Proof.
  intros L M D. induction L as [|a l N L IH]; [exact M|]. simpl. constructor.
  - rewrite in_app_iff. intros [I|I]; [contradiction|]. apply (D a); [now left|exact I].
  - apply IH. intros x I. apply D. now right.
Qed.

Lemma all_events_distinct : NoDup all_events.
Proof.
  assert (NoDup (took_ones h r)) as D by (apply NoDup_filter, elements_distinct).
  unfold all_events. apply distinct_app.
  - apply Injective_map_NoDup; [|exact D]. intros x y X. now injection X.
  - apply Injective_map_NoDup; [|exact D]. intros x y X. now injection X.
  - intros e I J. apply in_map_iff in I as [t [<- _]].
    apply in_map_iff in J as [u [X _]]. discriminate.
Qed.

Lemma edge_decided : decided edge all_events.
Proof.
  intros [s m] [t n] S T. apply all_events_spec in S, T. unfold edge.
  destruct m, n.
  - right. intros [X|X]; inversion X.
  - destruct (anti_decided h r before E O s t S T) as [D|D].
    + left. left. now constructor.
    + destruct (Pos.eq_dec s t) as [->|N]; [left; left; now constructor|].
      right. intros [X|X]; inversion X; subst; contradiction.
  - destruct (read_decided h r E s t T) as [D|D]; [left; left; now constructor|].
    destruct (write_decided h r before E O s t S T) as [W|W];
      [left; left; now constructor|].
    destruct (session_decided h r E s t S T) as [C|C]; [left; right; now constructor|].
    right. intros [X|X]; inversion X; subst; contradiction.
  - right. intros [X|X]; inversion X.
Qed.

(* --- the order of the commits *)

Lemma ordered : exists T, total_order all_events T /\
  forall e f, In e all_events -> In f all_events -> edge e f -> T e f.
Proof.
  apply (extension edge acyc (length all_events)); auto.
  - exact all_events_distinct.
  - exact edge_decided.
  - intros [s m] [t n] _ _. destruct (Pos.eq_dec s t) as [->|N]; [|right; congruence].
    destruct m, n; (now left) || (right; congruence).
Qed.

(* The commits in this order, and who had committed when a transaction began. *)
Lemma snapshot_order : exists co seen : txn -> txn -> Prop,
  commit_order h r co /\
  (forall s t, session_or_read h r s t -> seen s t) /\
  (forall k s t, before k s t -> seen s t) /\
  (forall s t u, co s t -> seen t u -> seen s u) /\
  (forall k s t, writer h r s k -> writer h r t k -> co s t -> before k s t) /\
  axiom h r co (fun t2 t3 _ => seen t2 t3).
Proof.
  destruct ordered as [T [TO F]].
  assert (forall s m t n, took_effect r s = true -> took_effect r t = true ->
    edge (s, m) (t, n) -> T (s, m) (t, n)) as F'.
  { intros s m t n S U X. apply F; auto; now apply all_events_spec. }
  assert (forall t, took_effect r t = true -> T (t, Begin) (t, Commit)) as B.
  { intros t U. apply F'; auto. left. now constructor. }
  assert (forall s t, session_or_read h r s t -> took_effect r s = true /\
    took_effect r t = true /\ T (s, Commit) (t, Begin)) as sees.
  { intros s t [D|D].
    - split; [apply D|]. split; [apply D|]. apply F'; [apply D|apply D|].
      right. now constructor.
    - assert (took_effect r s = true /\ took_effect r t = true) as [S U].
      { destruct D as [i [k R]]. split; [|apply R].
        now apply (reads_took h r E t i k s R). }
      split; [auto|]. split; [auto|]. apply F'; auto. left. now constructor. }
  pose proof (t_transitive _ T TO) as trans.
  assert (forall k s t, before k s t -> took_effect r s = true /\
    took_effect r t = true /\ T (s, Commit) (t, Begin)) as overwrites.
  { intros k s t D. destruct (of_writers h r before O k s t D) as [[S _] [U _]].
    split; [auto|]. split; [auto|]. apply F'; auto. left.
    apply overwrites_what_is_committed. exists k. exact D. }
  exists (fun s t => took_effect r s = true /\ took_effect r t = true /\
    T (s, Commit) (t, Commit)), (fun s t => T (s, Commit) (t, Begin)).
  split; [split|split; [|split; [|split; [|split]]]].
  - intros s [_ [_ X]]. exact (t_irreflexive _ T TO _ X).
  - intros s t u [S [_ X]] [_ [U Y]]. split; [auto|]. split; [auto|].
    exact (trans _ _ _ X Y).
  - intros s t S U N.
    destruct (t_total _ T TO (s, Commit) (t, Commit)) as [X|X]; auto;
      try (now apply all_events_spec). congruence.
  - intros s t D. destruct (sees s t (or_introl D)) as [S [U X]].
    split; [auto|]. split; [auto|]. exact (trans _ _ _ X (B t U)).
  - intros s t D. destruct (sees s t (or_intror D)) as [S [U X]].
    split; [auto|]. split; [auto|]. exact (trans _ _ _ X (B t U)).
  - intros k s t D. apply (follows_stated h r before O) in D.
    destruct (overwrites k s t D) as [S [U X]].
    split; [auto|]. split; [auto|]. exact (trans _ _ _ X (B t U)).
  - intros s t D. apply (sees s t D).
  - intros k s t D. apply (overwrites k s t D).
  - intros s t u [_ [_ X]] Y. exact (trans _ _ _ X Y).
  - intros k s t S U [_ [_ X]].
    destruct (total h r before O k s t S U) as [Y|Y]; [|exact Y|exfalso].
    + intros ->. exact (t_irreflexive _ T TO _ X).
    + destruct (overwrites k t s Y) as [_ [Us Z]].
      apply (t_irreflexive _ T TO (s, Commit)).
      exact (trans _ _ _ X (trans _ _ _ Z (B s Us))).
  - intros t1 t2 t3 i x R W N M. destruct W as [U2 W2].
    assert (took_effect r t3 = true) as U3 by apply R.
    assert (~ anti_dependency h r before t3 t2) as no_anti.
    { intros A. apply (t_irreflexive _ T TO (t2, Commit)).
      refine (trans _ _ _ M _). apply F'; auto. left. now constructor. }
    assert (t3 <> t2) as N32.
    { intros ->. apply (t_irreflexive _ T TO (t2, Begin)).
      exact (trans _ _ _ (B t2 U2) M). }
    destruct t1 as [w|].
    + exists w. split; [auto|].
      destruct (reads_took h r E t3 i x w R) as [Uw [_ Ww]].
      destruct (total h r before O x t2 w) as [P|P]; auto; [split; auto|congruence| |].
      * split; [auto|]. split; [auto|].
        exact (trans _ _ _ (proj2 (proj2 (overwrites x t2 w P))) (B w Uw)).
      * exfalso. apply no_anti. split; [auto|]. exists i, x. left. exists w. auto.
    + exfalso. apply no_anti. split; [auto|]. exists i, x. right.
      split; [auto|]. split; auto.
Qed.
End Arrow.

Theorem session_si_prefix h : session_si h -> prefix h.
Proof.
  intros [r [before [E [O A]]]].
  destruct (snapshot_order h r before E O A)
    as [co [seen [C [S1 [_ [S2 [_ X]]]]]]].
  exists r, co. split; [exact E|]. split; [exact C|].
  intros t1 t2 t3 i x R W N [t [V D]]. apply (X t1 t2 t3 i x R W N).
  destruct V as [->|V]; [now apply S1|]. apply (S2 t2 t t3 V). now apply S1.
Qed.
