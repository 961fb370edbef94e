(* Who wrote what: an index of transactions by key and value. *)
From Coq Require Import PArith Arith List Bool FMapPositive Lia.
From Proof Require Import History Digest.
Import ListNotations.

Definition code (v : value) : positive :=
  match v with None => xH | Some p => Pos.succ p end.

Lemma code_injective v w : code v = code w -> v = w.
Proof.
  destruct v as [p|], w as [q|]; simpl; intros E; try reflexivity.
  - f_equal. now apply Pos.succ_inj.
  - now destruct (Pos.succ_not_1 p).
  - symmetry in E. now destruct (Pos.succ_not_1 q).
Qed.

Lemma value_eqb_eq v w : value_eqb v w = true <-> v = w.
Proof.
  destruct v, w; simpl; try (split; congruence).
  rewrite Pos.eqb_eq. split; congruence.
Qed.

Definition index := PM.t (PM.t (list txn)).

Definition row (m : index) (k : key) : PM.t (list txn) :=
  match PM.find k m with Some n => n | None => PM.empty _ end.

Definition lookup (m : index) (k : key) (c : positive) : list txn :=
  match PM.find c (row m k) with Some l => l | None => [] end.

Definition enter (m : index) (e : key * positive * txn) : index :=
  let '(k, c, t) := e in
  PM.add k (PM.add c (t :: lookup m k c) (row m k)) m.

Lemma enter_row m k c t k' : row (enter m (k, c, t)) k' =
  if Pos.eqb k' k then PM.add c (t :: lookup m k c) (row m k) else row m k'.
Proof.
  unfold enter. unfold row at 1. destruct (Pos.eqb_spec k' k) as [->|ne].
  - now rewrite PM.gss.
  - now rewrite PM.gso by auto.
Qed.

Lemma enter_lookup m k' c' t' k c t : In t (lookup (enter m (k', c', t')) k c) <->
  (k, c, t) = (k', c', t') \/ In t (lookup m k c).
Proof.
  unfold lookup at 1. rewrite enter_row.
  destruct (Pos.eqb_spec k k') as [->|nk].
  - destruct (Pos.eq_dec c c') as [->|nc].
    + rewrite PM.gss. simpl. split; intros [E|E]; auto; left; congruence.
    + rewrite PM.gso by auto. fold (lookup m k' c).
      split; [auto|]. intros [E|E]; [congruence|auto].
  - fold (lookup m k c). split; [auto|]. intros [E|E]; [congruence|auto].
Qed.

Lemma fold_enter l : forall m k c t, In t (lookup (fold_left enter l m) k c) <->
  In (k, c, t) l \/ In t (lookup m k c).
Proof.
  induction l as [|[[k' c'] t'] l IH]; intros m k c t; [simpl; tauto|].
  cbn [fold_left In]. rewrite IH, enter_lookup. intuition congruence.
Qed.

(* Of the entries that each transaction makes. *)
Section OfTransactions.
Variable A : Type.
Variable entries : txn * A -> list (key * positive * txn).

Definition index_of (l : list (txn * A)) : index :=
  fold_left (fun m ta => fold_left enter (entries ta) m) l (PM.empty _).

Lemma index_from l : forall m k c t,
  In t (lookup (fold_left (fun m ta => fold_left enter (entries ta) m) l m) k c)
  <-> (exists ta, In ta l /\ In (k, c, t) (entries ta)) \/ In t (lookup m k c).
Proof.
  induction l as [|ta l IH]; intros m k c t; simpl.
  - split; [auto|]. intros [[x [[] _]]|H]; exact H.
  - rewrite IH, fold_enter. split.
    + intros [[x [H1 H2]]|[H|H]]; eauto.
    + intros [[x [[->|H1] H2]]|H]; eauto.
Qed.

Lemma index_spec l k c t : In t (lookup (index_of l) k c) <->
  exists ta, In ta l /\ In (k, c, t) (entries ta).
Proof.
  unfold index_of. rewrite index_from. split; [|auto].
  intros [H|H]; [exact H|]. unfold lookup, row in H.
  rewrite !PM.gempty in H. destruct H.
Qed.
End OfTransactions.

(* --- everything that was written, overwritten versions too *)

Definition written_value (s : state) : value :=
  match s with Holds v | Removed v => v end.

Definition wrote_entries (tb : txn * transaction) : list (key * positive * txn) :=
  if is_aborted (snd tb) then [] else
  flat_map (fun o => match installs o with
    | Some (k, s) => [(k, code (written_value s), fst tb)]
    | None => []
    end) (operations (snd tb)).

Definition authors (h : history) : index :=
  index_of _ wrote_entries (PM.elements (transactions h)).

Lemma authors_spec h k v t :
  In t (lookup (authors h) k (code v)) <-> wrote h t k v.
Proof.
  unfold authors. rewrite index_spec. unfold wrote, wrote_entries. split.
  - intros [[u b] [H1 H2]]. simpl in H2. apply elements_iff in H1.
    destruct (is_aborted b) eqn:A; [destruct H2|].
    apply in_flat_map in H2 as [o [H2 H3]].
    destruct (installs o) as [[k' s]|] eqn:I; [|destruct H3].
    destruct H3 as [E|[]]. injection E as -> E ->. apply code_injective in E.
    apply is_aborted_false in A.
    exists b, o, s. repeat split; auto. destruct s; simpl in E; subst; auto.
  - intros [b [o [s [H1 [H2 [H3 [H4 H5]]]]]]]. exists (t, b).
    split; [now apply elements_iff|]. simpl.
    apply is_aborted_false in H2. rewrite H2. apply in_flat_map.
    exists o. split; [exact H3|]. rewrite H4. left.
    destruct H5 as [-> | ->]; reflexivity.
Qed.

Lemma wrote_writes h t k v : wrote h t k v -> writes h t k.
Proof.
  intros [b [o [s [H1 [_ [H2 [H3 _]]]]]]]. unfold writes, leaves. rewrite H1.
  clear H1. induction (operations b) as [|o' ops IH]; [destruct H2|]. simpl.
  destruct (written_by ops k) as [s'|] eqn:E; [eauto|].
  destruct H2 as [->|H2].
  - rewrite H3, Pos.eqb_refl. eauto.
  - destruct (IH H2) as [s' W]. congruence.
Qed.

(* --- what a stated order names *)

Definition all_are (t : txn) (l : list txn) : bool :=
  forallb (fun u => Pos.eqb u t) l.

Definition only_author (l : list txn) : option txn :=
  match l with
  | t :: rest => if all_are t rest then Some t else None
  | [] => None
  end.

Lemma only_author_spec h k v t :
  only_author (lookup (authors h) k (code v)) = Some t <->
  wrote h t k v /\ forall u, wrote h u k v -> u = t.
Proof.
  assert (forall u, In u (lookup (authors h) k (code v)) <-> wrote h u k v) as L
    by apply authors_spec.
  destruct (lookup (authors h) k (code v)) as [|u rest]; simpl in *.
  { split; [discriminate|]. intros [W _]. now apply L in W. }
  unfold all_are.
  destruct (forallb (fun w => Pos.eqb w u) rest) eqn:A.
  - rewrite forallb_forall in A.
    assert (forall w, wrote h w k v -> w = u) as only.
    { intros w W. apply L in W as [->|W]; [auto|]. now apply Pos.eqb_eq, A. }
    split.
    + intros E. injection E as <-. split; [apply L; now left|exact only].
    + intros [W _]. f_equal. symmetry. auto.
  - split; [discriminate|]. intros [W O].
    enough (forallb (fun w => Pos.eqb w u) rest = true) by congruence.
    assert (u = t) as -> by (apply O, L; now left).
    apply forallb_forall. intros w I. apply Pos.eqb_eq, O, L. now right.
Qed.

Definition names_by (h : history) (idx : index) (k : key) (first : bool)
    (e : version_name) : option txn :=
  match e with
  | OfTransaction t None =>
      match transaction_of h t with
      | Some b =>
          if negb (is_aborted b) &&
             existsb (fun o => match installs o with
               | Some (k', _) => Pos.eqb k' k | None => false end) (operations b)
          then Some t else None
      | None => None
      end
  | OfTransaction t (Some v) =>
      if existsb (Pos.eqb t) (lookup idx k (code v)) then Some t else None
  | Valued None => None
  | Valued v =>
      if first && value_eqb v (initial_value h k) then None else
      only_author (lookup idx k (code v))
  end.

Fixpoint names_from (h : history) (idx : index) (k : key) (first : bool)
    (order : list version_name) : list (option txn) :=
  match order with
  | [] => []
  | e :: rest => names_by h idx k first e :: names_from h idx k false rest
  end.

Definition name_of (h : history) (k : key) (i : nat) (e : version_name)
    (t : txn) : Prop :=
  match e with
  | OfTransaction s None => s = t /\ exists v, wrote h t k v
  | OfTransaction s (Some v) => s = t /\ wrote h t k v
  | Valued v => v <> None /\ ~ (i = O /\ v = initial_value h k) /\
      wrote h t k v /\ forall u, wrote h u k v -> u = t
  end.

Lemma named_entry h k order i t : named h k order i t <->
  exists e, nth_error order i = Some e /\ name_of h k i e t.
Proof.
  unfold named, name_of. destruct (nth_error order i) as [e|].
  - split; [intros H; exists e; auto|].
    intros [e' [E H]]. injection E as <-. exact H.
  - split; [intros []|]. intros [e [E _]]. discriminate.
Qed.

Lemma names_by_spec h k i e t :
  names_by h (authors h) k (Nat.eqb i 0) e = Some t <-> name_of h k i e t.
Proof.
  unfold names_by, name_of. destruct e as [v|s [v|]].
  - destruct v as [p|]; [|split; [discriminate|intros [H _]; congruence]].
    destruct (Nat.eqb_spec i 0) as [Z|Z]; cbn [andb];
      [destruct (value_eqb (Some p) (initial_value h k)) eqn:V|].
    + apply value_eqb_eq in V. split; [discriminate|]. intros [_ [N _]]. tauto.
    + rewrite only_author_spec. split; [|tauto]. intros W. split; [congruence|].
      split; [|exact W]. intros [_ E]. apply value_eqb_eq in E. congruence.
    + rewrite only_author_spec. split; [|tauto]. intros W. split; [congruence|].
      split; [tauto|exact W].
  - destruct (existsb _ _) eqn:E.
    + apply existsb_exists in E as [u [E1 E2]]. apply Pos.eqb_eq in E2 as <-.
      apply authors_spec in E1. split; [|intros [-> _]; auto].
      intros X. injection X as <-. auto.
    + split; [discriminate|]. intros [-> W]. apply authors_spec in W.
      enough (existsb (Pos.eqb t) (lookup (authors h) k (code v)) = true)
        by congruence.
      apply existsb_exists. exists t. split; [auto|]. apply Pos.eqb_refl.
  - destruct (transaction_of h s) as [b|] eqn:T.
    + destruct (is_aborted b) eqn:A; cbn [negb andb].
      * split; [discriminate|]. intros [-> [v [b' [o [x [W1 [W2 _]]]]]]].
        rewrite T in W1. injection W1 as <-.
        apply is_aborted_false in W2. congruence.
      * destruct (existsb _ _) eqn:E.
        -- apply existsb_exists in E as [o [E1 E2]].
           destruct (installs o) as [[k' x]|] eqn:I; [|discriminate].
           apply Pos.eqb_eq in E2 as ->. split; [|intros [-> _]; auto].
           intros X. injection X as <-. split; [auto|].
           exists (written_value x), b, o, x. apply is_aborted_false in A.
           repeat split; auto. destruct x; auto.
        -- split; [discriminate|].
           intros [-> [v [b' [o [x [W1 [_ [W2 [W3 _]]]]]]]]].
           rewrite T in W1. injection W1 as <-. exfalso.
           rewrite <- not_true_iff_false in E. apply E, existsb_exists.
           exists o. split; [auto|]. rewrite W3. apply Pos.eqb_refl.
    + split; [discriminate|]. intros [-> [v [b' [o [x [W1 _]]]]]]. congruence.
Qed.

Lemma names_later h k order : forall i t,
  nth_error (names_from h (authors h) k false order) i = Some (Some t) <->
  exists e, nth_error order i = Some e /\ name_of h k (S i) e t.
Proof.
  induction order as [|e order IH]; intros [|i] t; simpl.
  - split; [discriminate|]. intros [e [E _]]. discriminate.
  - split; [discriminate|]. intros [e [E _]]. discriminate.
  - split.
    + intros E. exists e. split; [auto|]. apply names_by_spec. simpl. congruence.
    + intros [e' [E1 E2]]. injection E1 as ->. apply names_by_spec in E2.
      simpl in E2. congruence.
  - rewrite IH. split; intros [e' [E1 E2]]; exists e'; split; auto;
      destruct e' as [v|s [v|]]; simpl in *; auto;
      destruct E2 as [N [_ E2]]; (split; [auto|]; split; [|auto]); lia.
Qed.

Lemma names_spec h k order i t :
  nth_error (names_from h (authors h) k true order) i = Some (Some t) <->
  named h k order i t.
Proof.
  rewrite named_entry. destruct order as [|e order], i as [|i]; simpl.
  - split; [discriminate|]. intros [e [E _]]. discriminate.
  - split; [discriminate|]. intros [e [E _]]. discriminate.
  - split.
    + intros E. exists e. split; [auto|]. apply names_by_spec. simpl. congruence.
    + intros [e' [E1 E2]]. injection E1 as ->. apply names_by_spec in E2.
      simpl in E2. congruence.
  - apply names_later.
Qed.
