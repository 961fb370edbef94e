(* A relation without a cycle, on finitely many things, is part of a total order.

   Some thing has nothing before it: it comes first, and the others follow in an
   order of their own. Whether one thing is related to another has to be decided
   for that, which is a premise here. *)
From Coq Require Import List Relations Lia.
From Proof Require Import Levels.
Import ListNotations.

Definition decided {A} (R : A -> A -> Prop) (l : list A) : Prop :=
  forall x y, In x l -> In y l -> R x y \/ ~ R x y.

Lemma some_or_none {A} (P : A -> Prop) l : (forall x, In x l -> P x \/ ~ P x) ->
  (exists x, In x l /\ P x) \/ ~ exists x, In x l /\ P x.
Proof.
  induction l as [|a l IH]; intros D.
  - right. intros [x [[] _]].
  - destruct (D a) as [Y|N]; [now left|left; exists a; split; [now left|exact Y]|].
    destruct IH as [[x [I Y]]|E].
    + intros x I. apply D. now right.
    + left. exists x. split; [now right|exact Y].
    + right. intros [x [[->|I] Y]]; [contradiction|]. apply E. eauto.
Qed.

(* With one thing left out, and the paths through it put in. *)
Definition through {A} (R : A -> A -> Prop) (x y z : A) : Prop :=
  R y z \/ (R y x /\ R x z).

Lemma through_acyclic {A} (R : A -> A -> Prop) x : acyclic R ->
  acyclic (through R x).
Proof.
  intros C y P. apply (C y).
  assert (forall a b, clos_trans A (through R x) a b -> clos_trans A R a b) as T.
  { induction 1 as [a b [Q|[Q S]]|a b c _ IH1 _ IH2].
    - now apply t_step.
    - eapply t_trans; apply t_step; eauto.
    - eapply t_trans; eauto. }
  auto.
Qed.

Lemma first_one {A} l : forall (R : A -> A -> Prop), acyclic R -> decided R l ->
  l <> [] -> exists m, In m l /\ forall x, In x l -> ~ R x m.
Proof.
  induction l as [|a l IH]; intros R C D N; [congruence|].
  destruct l as [|b l].
  - exists a. split; [now left|]. intros x [<-|[]] X. apply (C a). now apply t_step.
  - destruct (IH (through R a)) as [m [I M]].
    + now apply through_acyclic.
    + intros x y X Y. unfold through.
      destruct (D x y), (D x a), (D a y); simpl in *; auto; tauto.
    + discriminate.
    + destruct (D a m) as [Q|Q]; [now left|now right| |].
      * exists a. split; [now left|]. intros x [<-|X] Y.
        -- apply (C a). now apply t_step.
        -- apply (M x X). right. auto.
      * exists m. split; [now right|]. intros x [<-|X] Y; [contradiction|].
        apply (M x X). now left.
Qed.

Record total_order {A} (l : list A) (T : A -> A -> Prop) : Prop := {
  t_inside x y : T x y -> In x l /\ In y l;
  t_irreflexive x : ~ T x x;
  t_transitive x y z : T x y -> T y z -> T x z;
  t_total x y : In x l -> In y l -> x <> y -> T x y \/ T y x }.

Lemma extension {A} (R : A -> A -> Prop) : acyclic R -> forall n l,
  length l = n -> NoDup l -> decided R l ->
  (forall x y, In x l -> In y l -> x = y \/ x <> y) ->
  exists T, total_order l T /\ forall x y, In x l -> In y l -> R x y -> T x y.
Proof.
  intros C. induction n as [|n IH]; intros l L U D Q.
  - destruct l; [|discriminate]. exists (fun _ _ => False).
    split; [split|]; intros; try contradiction; simpl in *; tauto.
  - destruct (first_one l R C D) as [m [I M]]; [now destruct l|].
    destruct (in_split m l I) as [l1 [l2 ->]].
    assert (NoDup (l1 ++ l2) /\ ~ In m (l1 ++ l2)) as [U' N] by
      (now apply NoDup_remove).
    assert (forall x, In x (l1 ++ l2) -> In x (l1 ++ m :: l2)) as into.
    { intros x X. apply in_app_or in X. apply in_or_app. simpl. tauto. }
    assert (forall x, In x (l1 ++ m :: l2) -> x = m \/ In x (l1 ++ l2)) as from.
    { intros x X. apply in_app_or in X. rewrite in_app_iff. simpl in X.
      destruct X as [X|[X|X]]; auto. }
    destruct (IH (l1 ++ l2)) as [T [O E]].
    + rewrite app_length in *. simpl in L. lia.
    + exact U'.
    + intros x y X Y. apply D; auto.
    + intros x y X Y. apply Q; auto.
    + exists (fun x y => (x = m /\ In y (l1 ++ l2)) \/ T x y). split; [split|].
      * intros x y [[-> Y]|X].
        -- split; [exact I|auto].
        -- destruct (t_inside _ T O x y X). auto.
      * intros x [[-> X]|X]; [auto|exact (t_irreflexive _ T O x X)].
      * intros x y z [[-> Y]|X] [[-> Z]|Z].
        -- contradiction.
        -- left. split; [auto|]. apply (t_inside _ T O y z Z).
        -- destruct (t_inside _ T O x m X). contradiction.
        -- right. exact (t_transitive _ T O x y z X Z).
      * intros x y X Y X'. destruct (from x X) as [->|Ix], (from y Y) as [->|Iy].
        -- congruence.
        -- left. left. auto.
        -- right. left. auto.
        -- destruct (t_total _ T O x y Ix Iy X'); auto.
      * intros x y X Y Z. destruct (from x X) as [->|Ix], (from y Y) as [->|Iy].
        -- exfalso. apply (M m I Z).
        -- left. auto.
        -- exfalso. apply (M x X Z).
        -- right. auto.
Qed.
