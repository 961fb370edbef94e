(* Arrows between the levels: what satisfies the one satisfies the other. *)
From Coq Require Import PArith List Bool Relations.
From Proof Require Import History Levels LevelModels.

Lemma acyclic_weaker {A} (big small : A -> A -> Prop) :
  (forall x y, small x y -> big x y) -> acyclic big -> acyclic small.
Proof.
  intros I B x C. apply (B x).
  assert (forall y z, clos_trans A small y z -> clos_trans A big y z) as T.
  { induction 1; [apply t_step; auto|eapply t_trans; eauto]. }
  auto.
Qed.

Ltac fewer_edges := intros [r [before [E [O A]]]]; exists r, before;
  split; [exact E|]; split; [exact O|];
  refine (acyclic_weaker _ _ _ A); intros; cbn; tauto.

Theorem linearizable_strict h : linearizable h -> strict_serializable h.
Proof.
  intros [r [before [E [O [_ A]]]]]. exists r, before. auto.
Qed.

Theorem strict_session_serializable h :
  strict_serializable h -> session_serializable h.
Proof. fewer_edges. Qed.

Theorem session_serializable_serializable h :
  session_serializable h -> serializable h.
Proof. fewer_edges. Qed.

Theorem strong_si_strong_session_si h : strong_si h -> strong_session_si h.
Proof. fewer_edges. Qed.

Theorem strong_session_si_session_si h : strong_session_si h -> session_si h.
Proof. fewer_edges. Qed.

Theorem strong_session_si_generalized_si h :
  strong_session_si h -> generalized_si h.
Proof. fewer_edges. Qed.

Theorem generalized_si_adya_si h : generalized_si h -> adya_si h.
Proof. fewer_edges. Qed.

Theorem session_si_adya_si h : session_si h -> adya_si h.
Proof. fewer_edges. Qed.

(* A transaction that happens at once begins and commits at once: a cycle of its
   events is a cycle of transactions. *)
Lemma events_of_transactions (edge : txn -> txn -> Prop)
    (step : event -> event -> Prop) :
  (forall e f, step e f -> (e = (fst f, Begin) /\ snd f = Commit) \/
    edge (fst e) (fst f)) -> acyclic edge -> acyclic step.
Proof.
  intros S A [t m] C.
  assert (forall e f, clos_trans event step e f ->
    (e = (fst f, Begin) /\ snd f = Commit) \/ clos_trans txn edge (fst e) (fst f))
    as P.
  { induction 1 as [e f X|e f g X IH1 Y IH2].
    - destruct (S e f X); [auto|]. right. now apply t_step.
    - destruct IH1 as [[-> N1]|P1], IH2 as [[-> N2]|P2]; cbn [fst snd] in *.
      + discriminate.
      + right. exact P2.
      + right. exact P1.
      + right. eapply t_trans; eauto. }
  destruct (P _ _ C) as [[X Y]|X]; [|exact (A t X)].
  cbn in *. subst. discriminate.
Qed.

Theorem serializable_adya_si h : serializable h -> adya_si h.
Proof.
  intros [r [before [E [O A]]]]. exists r, before. split; [exact E|].
  split; [exact O|]. refine (events_of_transactions _ _ _ A).
  intros e f [t T|s t D|s t D|s t D]; cbn [fst snd]; auto.
Qed.

Theorem session_serializable_session_si h : session_serializable h -> session_si h.
Proof.
  intros [r [before [E [O A]]]]. exists r, before. split; [exact E|].
  split; [exact O|]. refine (events_of_transactions _ _ _ A).
  intros e f [[t T|s t D|s t D|s t D]|[s t D]]; cbn [fst snd]; auto.
Qed.

Theorem prefix_causal h : prefix h -> causal h.
Proof.
  intros [r [co [E [C A]]]]. exists r, co. split; [exact E|]. split; [exact C|].
  intros t1 t2 t3 i x R W N V. apply (A t1 t2 t3 i x R W N).
  apply clos_trans_tn1 in V. destruct V as [t V|u t V P].
  - exists t2. auto.
  - exists u. split; [|exact V]. right.
    apply clos_tn1_trans in P. clear V W N.
    induction P as [a b P|a b c _ IH1 _ IH2].
    + now apply (later h r co a b C).
    + exact (co_transitive h r co C a b c IH1 IH2).
Qed.

Theorem causal_read_atomic h : causal h -> read_atomic h.
Proof.
  intros [r [co [E [C A]]]]. exists r, co. split; [exact E|]. split; [exact C|].
  intros t1 t2 t3 i x R W N V. apply (A t1 t2 t3 i x R W N). now apply t_step.
Qed.

Theorem read_atomic_read_committed h : read_atomic h -> read_committed h.
Proof.
  intros [r [co [E [C A]]]]. exists r, co. split; [exact E|]. split; [exact C|].
  intros t1 t2 t3 i x R W N [j [y [_ V]]]. apply (A t1 t2 t3 i x R W N).
  right. exists j, y. exact V.
Qed.
