(* Serializability and snapshot isolation with sessions as Biswas and Enea have
   them, by axioms over a commit order: the same histories as by graphs. *)
From Coq Require Import PArith List Bool FMapPositive Relations Lia.
From Proof Require Import History Levels Digest Index LevelModels Extension Decided
  Lattice SnapshotPrefix.
Import ListNotations.

(* The axiom Serializability: whoever is earlier is visible. *)
Definition serializability_axiom (h : history) : Prop :=
  exists r co, explains h r /\ commit_order h r co /\
  axiom h r co (fun t2 t3 _ => co t2 t3).

(* The axiom Conflict: T4 is before T3, both write a key, and T2 is T4 or before
   it. Snapshot isolation is Prefix and Conflict. *)
Definition conflict_visible (h : history) (r : reading) (co : txn -> txn -> Prop)
    (t2 t3 : txn) : Prop :=
  exists t4 y, (t2 = t4 \/ co t2 t4) /\ co t4 t3 /\
    writer h r t4 y /\ writer h r t3 y.

Definition prefix_and_conflict (h : history) : Prop :=
  exists r co, explains h r /\ commit_order h r co /\
  axiom h r co (fun t2 t3 _ =>
    exists t, (t2 = t \/ co t2 t) /\ session_or_read h r t t3) /\
  axiom h r co (fun t2 t3 _ => conflict_visible h r co t2 t3).

Lemma stated_writers h r k s t : explains h r -> stated_before h k s t ->
  writer h r s k /\ writer h r t k.
Proof.
  intros E [order [i [j [I [_ [S [T _]]]]]]].
  assert (forall n u, named h k order n u -> writer h r u k) as W.
  { intros n u N. split.
    - apply (stated_take_effect h r E). exists k, order, n. auto.
    - apply named_entry in N as [e [_ N]]. destruct e as [v|w [v|]]; cbn in N.
      + destruct N as [_ [_ [N _]]]. eapply wrote_writes; eauto.
      + destruct N as [-> N]. eapply wrote_writes; eauto.
      + destruct N as [-> [v N]]. eapply wrote_writes; eauto. }
  eauto.
Qed.

(* --- a commit order gives an order of versions *)

Section Versions.
Variables (h : history) (r : reading) (co : txn -> txn -> Prop).
Hypothesis E : explains h r.
Hypothesis C : commit_order h r co.

Definition by_commits (k : key) (s t : txn) : Prop :=
  writer h r s k /\ writer h r t k /\ co s t.

Lemma by_commits_order : version_order h r by_commits.
Proof.
  split.
  - intros k s [_ [_ X]]. exact (co_irreflexive h r co C s X).
  - intros k s t u [S [_ X]] [_ [U Y]]. split; [auto|]. split; [auto|].
    exact (co_transitive h r co C s t u X Y).
  - intros k s t S T N. unfold by_commits.
    destruct (co_total h r co C s t (proj1 S) (proj1 T) N); auto.
  - intros k s t [S [T _]]. auto.
  - intros k s t D. destruct (stated_writers h r k s t E D) as [S T].
    split; [auto|]. split; [auto|]. exact (contains_stated h r co C k s t D).
Qed.

(* Who overwrites what T read is not visible to it. *)
Lemma overwriter_unseen visible s t : axiom h r co visible ->
  anti_dependency h r by_commits s t -> forall V : forall i, visible t s i, False.
Proof.
  intros A [N [i [k D]]] V.
  assert (exists v, reads_from h r s i k v /\ writer h r t k /\
    forall w, v = Some w -> co w t) as [v [R [W P]]].
  { destruct D as [[w [R [_ [W X]]]]|[R W]].
    - exists (Some w). split; [exact R|]. split; [exact W|]. intros x Q.
      now injection Q as <-.
    - exists None. split; [exact R|]. split; [exact W|discriminate]. }
  destruct (A v t s i k R W) as [w [Q X]].
  - intros ->. exact (co_irreflexive h r co C t (P t eq_refl)).
  - apply V.
  - apply (co_irreflexive h r co C t). apply (co_transitive h r co C t w t X). auto.
Qed.
End Versions.

(* --- serializability *)

Lemma axiom_serializable h : serializability_axiom h -> session_serializable h.
Proof.
  intros [r [co [E [C A]]]]. exists r, (by_commits h r co). split; [exact E|].
  split; [now apply by_commits_order|].
  refine (acyclic_weaker co _ _ (order_acyclic h r co C)).
  intros s t [D|[[k [_ [_ D]]]|[D|D]]].
  - now apply (contains_reads_from h r co C).
  - exact D.
  - pose proof D as D'. destruct D' as [N [i [k X]]].
    assert (took_effect r s = true /\ took_effect r t = true) as [S T].
    { destruct X as [[w [R [_ [W _]]]]|[R W]]; (split; [apply R|apply W]). }
    destruct (co_total h r co C s t S T N) as [Y|Y]; [exact Y|exfalso].
    exact (overwriter_unseen h r co C _ s t A D (fun _ => Y)).
  - now apply (contains_session_order h r co C).
Qed.

Lemma serializable_axiom h : session_serializable h -> serializability_axiom h.
Proof.
  intros [r [before [E [O A]]]].
  pose (fun s t => read_dependency h r s t \/ write_dependency before s t \/
    anti_dependency h r before s t \/ session_order h r s t) as edge.
  destruct (extension edge A (length (took_ones h r)) (took_ones h r))
    as [T [TO F]]; auto.
  - apply NoDup_filter, elements_distinct.
  - intros s t S U. apply (took_ones_spec h r E) in S, U. unfold edge.
    destruct (read_decided h r E s t U), (write_decided h r before E O s t S U),
      (anti_decided h r before E O s t S U), (session_decided h r E s t S U); tauto.
  - intros s t _ _. destruct (Pos.eq_dec s t); auto.
  - assert (forall s t, took_effect r s = true -> took_effect r t = true ->
      edge s t -> T s t) as F'.
    { intros s t S U X. apply F; auto; now apply (took_ones_spec h r E). }
    assert (forall k s t, before k s t -> T s t) as Fw.
    { intros k s t B. destruct (of_writers h r before O k s t B) as [[S _] [U _]].
      apply F'; auto. right. left. exists k. exact B. }
    exists r, T. split; [exact E|]. split; [split|].
    + exact (t_irreflexive _ T TO).
    + exact (t_transitive _ T TO).
    + intros s t S U N. apply (t_total _ T TO); auto; now apply (took_ones_spec h r E).
    + intros s t D. apply F'; [apply D|apply D|]. right. right. now right.
    + intros s t D. pose proof D as [i [k R]].
      apply F'; [apply (reads_took h r E t i k s R)|apply R|now left].
    + intros k s t D. apply (Fw k). now apply (follows_stated h r before O).
    + intros t1 t2 t3 i x R W N V.
      assert (~ anti_dependency h r before t3 t2) as no_anti.
      { intros X. apply (t_irreflexive _ T TO t2).
        apply (t_transitive _ T TO t2 t3 t2 V).
        apply F'; [apply R|apply W|]. right. right. now left. }
      assert (t3 <> t2) as M by (intros ->; exact (t_irreflexive _ T TO t2 V)).
      destruct t1 as [w|].
      * exists w. split; [auto|]. destruct (reads_took h r E t3 i x w R) as [_ [_ Ww]].
        destruct (total h r before O x t2 w W Ww) as [B|B];
          [congruence|now apply (Fw x)|].
        exfalso. apply no_anti. split; [exact M|]. exists i, x. left. exists w. auto.
      * exfalso. apply no_anti. split; [exact M|]. exists i, x. right. auto.
Qed.

Theorem session_serializable_is_the_axiom h :
  session_serializable h <-> serializability_axiom h.
Proof. split; [apply serializable_axiom|apply axiom_serializable]. Qed.

(* --- snapshot isolation *)

Lemma session_si_axioms h : session_si h -> prefix_and_conflict h.
Proof.
  intros [r [before [E [O A]]]].
  destruct (snapshot_order h r before E O A)
    as [co [seen [C [S1 [S3 [S2 [S4 X]]]]]]].
  exists r, co. split; [exact E|]. split; [exact C|]. split.
  - intros t1 t2 t3 i x R W N [t [V D]]. apply (X t1 t2 t3 i x R W N).
    destruct V as [->|V]; [now apply S1|]. apply (S2 t2 t t3 V). now apply S1.
  - intros t1 t2 t3 i x R W N [t4 [y [V [L [W4 W3]]]]].
    apply (X t1 t2 t3 i x R W N). pose proof (S3 y t4 t3 (S4 y t4 t3 W4 W3 L)) as Z.
    destruct V as [->|V]; [exact Z|]. exact (S2 t2 t4 t3 V Z).
Qed.

Lemma axioms_session_si h : prefix_and_conflict h -> session_si h.
Proof.
  intros [r [co [E [C [P Q]]]]]. exists r, (by_commits h r co). split; [exact E|].
  split; [now apply by_commits_order|].
  pose (fun s t => session_or_read h r s t \/
    exists y, writer h r s y /\ writer h r t y /\ co s t) as has_to_see.
  assert (axiom h r co (fun t2 t3 _ => in_cut co has_to_see t2 t3)) as A.
  { intros t1 t2 t3 i x R W N [t [V [D|[y [W4 [W3 L]]]]]].
    - apply (P t1 t2 t3 i x R W N). exists t. auto.
    - apply (Q t1 t2 t3 i x R W N). exists t, y. auto. }
  assert (forall s t, has_to_see s t -> co s t) as see_later.
  { intros s t [D|[y [_ [_ D]]]]; [now apply (later h r co)|exact D]. }
  refine (acyclic_weaker (cut_edge r co has_to_see) _ _ (cut_acyclic h r co _ C)).
  assert (forall s t, has_to_see s t -> took_effect r s = true ->
    cut_edge r co has_to_see (s, Commit) (t, Begin)) as sees.
  { intros s t D S. split; [exact S|]. exists s. auto. }
  intros e f [X|X]; [destruct X as [t T|s t D|s t D|s t D]|destruct X as [s t D]].
  - split; [auto|]. split; [exact T|]. split; [exact T|].
    unfold done_at. cbn [fst snd]. intros [s [V D]]. apply see_later in D.
    apply (co_irreflexive h r co C t).
    destruct V as [->|V]; [exact D|]. exact (co_transitive h r co C t s t V D).
  - pose proof D as [i [k R]]. apply sees; [left; now right|].
    apply (reads_took h r E t i k s R).
  - destruct D as [k [S [T L]]]. apply sees; [right; exists k; auto|apply S].
  - pose proof D as [N [i [k X]]].
    assert (took_effect r s = true /\ took_effect r t = true) as [S T].
    { destruct X as [[w [R [_ [W _]]]]|[R W]]; (split; [apply R|apply W]). }
    split; [auto|]. split; [exact S|]. split; [exact T|].
    intros V. exact (overwriter_unseen h r co C _ s t A D (fun _ => V)).
  - apply sees; [left; now left|apply D].
Qed.

Theorem session_si_is_the_axioms h : session_si h <-> prefix_and_conflict h.
Proof. split; [apply session_si_axioms|apply axioms_session_si]. Qed.
