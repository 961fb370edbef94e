(* Clauses of a refutation, and what follows from them by unit propagation. *)
From Coq Require Import PArith List Bool FMapPositive MSetAVL OrdersEx.
From Proof Require Import History Levels Model.
Import ListNotations.

Inductive literal :=
  (* on every key that both write, the versions of [a] precede those of [b] *)
  | Order (a b : txn)
  (* [t] saw of [k] what [s] had left; with its operation [i], or with some *)
  | Seen (t : txn) (k : key) (s : source) (i : option nat) (holds : bool)
  | Effect (t : txn) (holds : bool).

Definition neg (l : literal) : literal :=
  match l with
  | Order a b => Order b a
  | Seen t k s i b => Seen t k s i (negb b)
  | Effect t b => Effect t (negb b)
  end.

Lemma neg_neg l : neg (neg l) = l.
Proof. destruct l; simpl; now rewrite ?negb_involutive. Qed.

(* --- sets of literals *)

Module P2 := PairOrderedType Positive_as_OT Positive_as_OT.
Module P4 := PairOrderedType P2 P2.
Module P5 := PairOrderedType Positive_as_OT P4.
Module Set5 := MSetAVL.Make P5.

Definition source_code (s : source) : positive :=
  match s with None => xH | Some t => Pos.succ t end.
Definition place_code (i : option nat) : positive :=
  match i with None => xH | Some n => Pos.succ (Pos.of_succ_nat n) end.

Definition code (l : literal) : P5.t :=
  match l with
  | Order a b => (1, ((a, b), (1, 1)))
  | Seen t k s i true => (2, ((t, k), (source_code s, place_code i)))
  | Seen t k s i false => (3, ((t, k), (source_code s, place_code i)))
  | Effect t true => (4, ((t, 1), (1, 1)))
  | Effect t false => (5, ((t, 1), (1, 1)))
  end%positive.

Lemma source_code_injective s t : source_code s = source_code t -> s = t.
Proof.
  destruct s as [s|], t as [t|]; simpl; intros E; try reflexivity.
  - f_equal. now apply Pos.succ_inj.
  - now destruct (Pos.succ_not_1 s).
  - symmetry in E. now destruct (Pos.succ_not_1 t).
Qed.

Lemma place_code_injective i j : place_code i = place_code j -> i = j.
Proof.
  destruct i as [i|], j as [j|]; unfold place_code; intros E; try reflexivity.
  - f_equal. now apply SuccNat2Pos.inj, Pos.succ_inj.
  - now destruct (Pos.succ_not_1 (Pos.of_succ_nat i)).
  - symmetry in E. now destruct (Pos.succ_not_1 (Pos.of_succ_nat j)).
Qed.

Lemma code_injective l m : code l = code m -> l = m.
Proof.
  destruct l as [a b|t k s i [|]|t [|]], m as [c d|u k' s' j [|]|u [|]];
    cbn [code]; intros E; try discriminate; injection E; intros; subst;
    try reflexivity;
    match goal with
    | H1 : source_code _ = _, H2 : place_code _ = _ |- _ =>
        apply source_code_injective in H1; apply place_code_injective in H2;
        now subst
    end.
Qed.

Definition literal_eqb (l m : literal) : bool :=
  if P5.eq_dec (code l) (code m) then true else false.

Lemma p5_eq x y : P5.eq x y -> x = y.
Proof.
  destruct x as [a [[b c] [d e]]], y as [a' [[b' c'] [d' e']]].
  intros [A [[B C] [D E]]]. cbv in A, B, C, D, E. now subst.
Qed.

Lemma literal_eqb_eq l m : literal_eqb l m = true -> l = m.
Proof.
  unfold literal_eqb. destruct (P5.eq_dec _ _) as [E|]; [|discriminate].
  intros _. now apply code_injective, p5_eq.
Qed.

(* --- what literals and clauses mean *)

Section Meaning.
Variables (h : history) (lv : strength) (r : reading)
  (edge : event -> event -> Prop) (ord : txn -> txn -> Prop).
Hypothesis M : model h lv r edge ord.

Definition sees_it (t : txn) (k : key) (s : source) (i : option nat) : Prop :=
  match i with
  | Some i => reads_from h r t i k s
  | None => exists i, reads_from h r t i k s
  end.

Definition holds_true (l : literal) : Prop :=
  match l with
  | Order a b => ord a b
  | Seen t k s i true => sees_it t k s i
  | Seen t k s i false => ~ sees_it t k s i
  | Effect t b => took_effect r t = b
  end.

(* One of the literals holds: not all of them fail. *)
Definition clause_holds (c : list literal) : Prop :=
  (forall l, In l c -> ~ holds_true l) -> False.

Lemma neg_contradicts l : holds_true l -> holds_true (neg l) -> False.
Proof.
  destruct l as [a b|t k s i [|]|t [|]]; cbn [neg negb holds_true];
    try tauto; try congruence.
  apply (m_not_both h lv r edge ord M).
Qed.

Definition failing (f : Set5.t) : Prop :=
  forall l, Set5.In (code l) f -> ~ holds_true l.

Lemma failing_add f l : failing f -> ~ holds_true l ->
  failing (Set5.add (code l) f).
Proof.
  intros F N m I. apply Set5.add_spec in I as [E|I]; [|auto].
  apply p5_eq, code_injective in E. now subst.
Qed.
End Meaning.

(* --- unit propagation *)

Definition clauses := PM.t (list literal).

Definition fails (f : Set5.t) (l : literal) : bool := Set5.mem (code l) f.

Fixpoint propagate (db : clauses) (f : Set5.t) (hints : list positive) : bool :=
  match hints with
  | [] => false
  | hint :: rest =>
      match PM.find hint db with
      | None => false
      | Some c =>
          if existsb (fun l => fails f (neg l)) c then propagate db f rest
          else match filter (fun l => negb (fails f l)) c with
            | [] => true
            | l :: others =>
                if forallb (literal_eqb l) others
                then propagate db (Set5.add (code (neg l)) f) rest
                else false
            end
      end
  end.

Fixpoint assume_failing (f : Set5.t) (c : list literal) : option Set5.t :=
  match c with
  | [] => Some f
  | l :: rest =>
      if fails f (neg l) then None
      else assume_failing (Set5.add (code l) f) rest
  end.

Definition follows (db : clauses) (c : list literal) (hints : list positive) :
    bool :=
  match assume_failing Set5.empty c with
  | Some f => propagate db f hints
  | None => false
  end.

Section Sound.
Variables (h : history) (lv : strength) (r : reading)
  (edge : event -> event -> Prop) (ord : txn -> txn -> Prop).
Hypothesis M : model h lv r edge ord.
Notation holds_true := (holds_true h r ord).
Notation clause_holds := (clause_holds h r ord).
Notation failing := (failing h r ord).

Variable db : clauses.
Hypothesis all_hold : forall n c, PM.find n db = Some c -> clause_holds c.

Lemma propagate_sound hints : forall f, failing f ->
  propagate db f hints = true -> False.
Proof.
  induction hints as [|n hints IH]; intros f F; simpl; [discriminate|].
  destruct (PM.find n db) as [c|] eqn:C; [|discriminate].
  destruct (existsb _ c); [apply IH, F|].
  pose proof (all_hold n c C) as H.
  destruct (filter _ c) as [|l others] eqn:O.
  - intros _. apply H. intros m I T.
    destruct (fails f m) eqn:E.
    + unfold fails in E. apply Set5.mem_spec in E. exact (F m E T).
    + assert (In m []) as [] by
        (rewrite <- O; apply filter_In; rewrite E; auto).
  - destruct (forallb _ others) eqn:S; [|discriminate]. apply IH.
    apply failing_add; [exact F|]. intros N. apply H. intros m I T.
    destruct (fails f m) eqn:E.
    + unfold fails in E. apply Set5.mem_spec in E. exact (F m E T).
    + assert (In m (l :: others)) as [->|J] by
        (rewrite <- O; apply filter_In; rewrite E; auto).
      * exact (neg_contradicts h lv r edge ord M m T N).
      * rewrite forallb_forall in S. apply S, literal_eqb_eq in J. subst m.
        exact (neg_contradicts h lv r edge ord M l T N).
Qed.

Lemma assume_failing_sound c : forall f f', failing f ->
  (forall l, In l c -> ~ holds_true l) -> assume_failing f c = Some f' ->
  failing f'.
Proof.
  induction c as [|l c IH]; intros f f' F H; simpl.
  - intros E. now injection E as <-.
  - destruct (fails f (neg l)); [discriminate|]. apply IH.
    + apply failing_add; [exact F|]. apply H. now left.
    + intros m I. apply H. now right.
Qed.

Lemma follows_sound c hints : follows db c hints = true -> clause_holds c.
Proof.
  unfold follows. destruct (assume_failing Set5.empty c) as [f|] eqn:A;
    [|discriminate].
  intros P N. refine (propagate_sound hints f _ P).
  eapply assume_failing_sound; [|exact N|exact A].
  intros l I. apply Set5.empty_spec in I. destruct I.
Qed.
End Sound.
