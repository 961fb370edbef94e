(* What the checker knows of each transaction: what it leaves behind, what it
   saw of others, and whether what it saw of itself is right. *)
From Coq Require Import PArith ZArith List Bool FMapPositive Lia.
From Proof Require Import History.
Import ListNotations.

(* An operation that saw what others had left. *)
Record seen := {
  place : nat;
  of_key : key;
  told : answer;
  stated : option source }.

Record digest := {
  left : PM.t state;
  outside : list seen;
  consistent : bool }.

(* --- the keys that may be there *)

Definition keys_named (o : operation) : list key :=
  match o with
  | Read k _ _ | Write k _ | Delete k _
  | CompareAndSet k _ _ _ | Insert k _ _ => [k]
  | Range _ _ rows => map fst rows
  end.

Lemma keys_named_spec o k : In k (keys_named o) <-> names o k.
Proof. destruct o; simpl; intuition. Qed.

Definition add_keys (ks : list key) (m : PM.t unit) : PM.t unit :=
  fold_left (fun m k => PM.add k tt m) ks m.

Lemma add_mem (m : PM.t unit) k k' :
  PM.mem k (PM.add k' tt m) = true <-> k = k' \/ PM.mem k m = true.
Proof.
  rewrite !PM.mem_find. destruct (Pos.eq_dec k k') as [->|ne].
  - rewrite PM.gss. intuition.
  - rewrite PM.gso by auto. intuition congruence.
Qed.

Lemma add_keys_mem ks : forall m k,
  PM.mem k (add_keys ks m) = true <-> In k ks \/ PM.mem k m = true.
Proof.
  induction ks as [|k' ks IH]; intros m k; simpl; [intuition|].
  unfold add_keys in *. simpl. rewrite IH, add_mem. intuition.
Qed.

Definition is_aborted (b : transaction) : bool :=
  match status b with Aborted => true | _ => false end.

Lemma is_aborted_false b : is_aborted b = false <-> status b <> Aborted.
Proof. unfold is_aborted. destruct (status b); intuition congruence. Qed.

(* Facts about all entries of a map, folded from the left. *)
Lemma elements_iff {A} (m : PM.t A) k x :
  PM.find k m = Some x <-> In (k, x) (PM.elements m).
Proof.
  split; [apply PM.elements_correct|apply PM.elements_complete].
Qed.

Definition keys_of_transaction (b : transaction) : list key :=
  if is_aborted b then [] else flat_map keys_named (operations b).

Definition keys_of_initial (m : PM.t value) : list key :=
  flat_map (fun kv => match snd kv with Some _ => [fst kv] | None => [] end)
    (PM.elements m).

Definition known_keys (h : history) : list key :=
  map fst (PM.elements
    (fold_left (fun m tb => add_keys (keys_of_transaction (snd tb)) m)
      (PM.elements (transactions h))
      (add_keys (keys_of_initial (initial_of_one h)) (PM.empty unit)))).

Lemma fold_add_mem (l : list (txn * transaction)) : forall m k,
  PM.mem k (fold_left (fun m tb => add_keys (keys_of_transaction (snd tb)) m)
    l m) = true <->
  (exists tb, In tb l /\ In k (keys_of_transaction (snd tb))) \/
  PM.mem k m = true.
Proof.
  induction l as [|tb l IH]; intros m k; simpl.
  - split; [auto|]. intros [[tb [[] _]]|H]; exact H.
  - rewrite IH, add_keys_mem. split.
    + intros [[x [H1 H2]]|[H|H]]; eauto.
    + intros [[x [[->|H1] H2]]|H]; eauto.
Qed.

Lemma mem_elements (m : PM.t unit) k :
  In k (map fst (PM.elements m)) <-> PM.mem k m = true.
Proof.
  rewrite PM.mem_find, in_map_iff. split.
  - intros [[k' u] [<- H]]. apply elements_iff in H. simpl. now rewrite H.
  - destruct (PM.find k m) as [u|] eqn:E; [|discriminate]. intros _.
    exists (k, u). split; [reflexivity|]. now apply elements_iff.
Qed.

Lemma known_keys_spec h k : In k (known_keys h) <-> known_key h k.
Proof.
  unfold known_keys, known_key.
  rewrite mem_elements, fold_add_mem, add_keys_mem. split.
  - intros [[[t b] [H1 H2]]|[H|H]].
    + left. simpl in H2. unfold keys_of_transaction in H2.
      destruct (is_aborted b) eqn:E; [destruct H2|].
      apply in_flat_map in H2 as [o [H2 H3]].
      exists t, b, o. apply elements_iff in H1. rewrite keys_named_spec in H3.
      apply is_aborted_false in E. auto.
    + right. unfold keys_of_initial in H. apply in_flat_map in H as [[k' v] [H1 H2]].
      simpl in H2. destruct v as [p|]; [|destruct H2].
      destruct H2 as [->|[]]. apply elements_iff in H1. eauto.
    + rewrite PM.mem_find, PM.gempty in H. discriminate.
  - intros [[t [b [o [H1 [H2 [H3 H4]]]]]]|[p H]].
    + left. exists (t, b). split; [now apply elements_iff|]. simpl.
      unfold keys_of_transaction. apply is_aborted_false in H2. rewrite H2.
      apply in_flat_map. exists o. rewrite keys_named_spec. auto.
    + right. left. unfold keys_of_initial. apply in_flat_map.
      exists (k, Some p). split; [now apply elements_iff|]. simpl. auto.
Qed.

(* --- what one operation tells *)

Definition has_row (rows : list (key * value)) (k : key) : bool :=
  existsb (fun row => Pos.eqb (fst row) k) rows.

Lemma has_row_spec rows k : has_row rows k = true <-> In k (map fst rows).
Proof.
  unfold has_row. rewrite existsb_exists, in_map_iff. split.
  - intros [row [H1 H2]]. apply Pos.eqb_eq in H2. eauto.
  - intros [row [H1 H2]]. exists row. split; [auto|]. now apply Pos.eqb_eq.
Qed.

(* [known]: the known keys of the history. *)
Definition looks (known : list key) (o : operation) : list (key * answer) :=
  match o with
  | Read k v _ => [(k, Is v)]
  | Write _ _ | Delete _ _ => []
  | CompareAndSet k v _ true => [(k, Is v)]
  | CompareAndSet k v _ false => [(k, IsNot v)]
  | Insert k _ true => [(k, IsAbsent)]
  | Insert k _ false => [(k, IsPresent)]
  | Range low high rows =>
      map (fun row => (fst row, Is (snd row))) rows ++
      map (fun k => (k, IsAbsent))
        (filter (fun k => within low high k && negb (has_row rows k)) known)
  end.

Lemma looks_spec h o k a :
  In (k, a) (looks (known_keys h) o) <-> looks_at h o k a.
Proof.
  split.
  - destruct o as [k' v st|k' v|k' v|k' v w [|]|k' v [|]|low high rows]; simpl;
      try (intros [H|[]]; injection H as <- <-; constructor); try (intros []).
    rewrite in_app_iff, !in_map_iff. intros [[[k' v] [H1 H2]]|[k' [H1 H2]]].
    + injection H1 as <- <-. now constructor.
    + injection H1 as <- <-. apply filter_In in H2 as [H2 H3].
      apply andb_true_iff in H3 as [H3 H4]. constructor; auto.
      * now apply known_keys_spec.
      * rewrite <- has_row_spec. intro E. rewrite E in H4. discriminate.
  - destruct 1; simpl; auto.
    + rewrite in_app_iff, in_map_iff. left. exists (k, v). auto.
    + rewrite in_app_iff, !in_map_iff. right. exists k. split; [auto|].
      apply filter_In. split; [now apply known_keys_spec|].
      rewrite H0. simpl. rewrite <- has_row_spec in H1.
      destruct (has_row rows k); [congruence|reflexivity].
Qed.

(* --- one pass over the operations of a transaction *)

Definition stated_of (o : operation) : option source :=
  match o with Read _ _ s => s | _ => None end.

Fixpoint split_looks (own : PM.t state) (i : nat) (o : operation)
    (ls : list (key * answer)) (d : list seen * bool) : list seen * bool :=
  match ls with
  | [] => d
  | ka :: ls =>
      let d := split_looks own i o ls d in
      match PM.find (fst ka) own with
      | Some s => (fst d, accepts (snd ka) s && snd d)
      | None => ({| place := i; of_key := fst ka; told := snd ka;
                    stated := stated_of o |} :: fst d, snd d)
      end
  end.

Definition install (o : operation) (own : PM.t state) : PM.t state :=
  match installs o with Some (k, s) => PM.add k s own | None => own end.

Fixpoint scan (known : list key) (ops : list operation) (i : nat)
    (own : PM.t state) : PM.t state * (list seen * bool) :=
  match ops with
  | [] => (own, ([], true))
  | o :: rest =>
      let d := scan known rest (S i) (install o own) in
      (fst d, split_looks own i o (looks known o) (snd d))
  end.

Definition digest_of (known : list key) (b : transaction) : digest :=
  let d := scan known (operations b) O (PM.empty state) in
  {| left := fst d; outside := fst (snd d); consistent := snd (snd d) |}.

Lemma written_by_app ops rest k :
  written_by (ops ++ rest) k =
  match written_by rest k with Some s => Some s | None => written_by ops k end.
Proof.
  induction ops as [|o ops IH]; simpl; [now destruct (written_by rest k)|].
  rewrite IH. destruct (written_by rest k); reflexivity.
Qed.

Lemma install_written done own o :
  (forall k, PM.find k own = written_by done k) ->
  forall k, PM.find k (install o own) = written_by (done ++ [o]) k.
Proof.
  intros H k. rewrite written_by_app. simpl. unfold install.
  destruct (installs o) as [[k' s]|]; [|apply H].
  destruct (Pos.eqb_spec k' k) as [->|ne].
  - apply PM.gss.
  - rewrite PM.gso by congruence. apply H.
Qed.

Lemma split_looks_outside own i o ls d x :
  In x (fst (split_looks own i o ls d)) <->
  (exists ka, In ka ls /\ PM.find (fst ka) own = None /\
    x = {| place := i; of_key := fst ka; told := snd ka;
           stated := stated_of o |}) \/ In x (fst d).
Proof.
  induction ls as [|ka ls IH]; simpl.
  - split; [auto|]. intros [[ka [[] _]]|H]; exact H.
  - destruct (PM.find (fst ka) own) eqn:E; simpl; rewrite IH; split.
    + intros [[y [H1 H2]]|H]; eauto.
    + intros [[y [[->|H1] [H2 H3]]]|H]; [congruence| |]; eauto.
    + intros [H|[[y [H1 H2]]|H]]; eauto 6.
    + intros [[y [[->|H1] [H2 H3]]]|H]; eauto 6.
Qed.

Lemma split_looks_consistent own i o ls d :
  snd (split_looks own i o ls d) = true <->
  (forall ka s, In ka ls -> PM.find (fst ka) own = Some s ->
    accepts (snd ka) s = true) /\ snd d = true.
Proof.
  induction ls as [|ka ls IH]; simpl.
  - split; [intros H; split; [intros ? ? []|exact H]|tauto].
  - destruct (PM.find (fst ka) own) eqn:E; simpl.
    + rewrite andb_true_iff, IH. split.
      * intros [H1 [H2 H3]]. split; [|exact H3].
        intros y s' [<-|H] F; [congruence|eauto].
      * intros [H1 H2]. split; [eauto|]. split; eauto.
    + rewrite IH. split.
      * intros [H1 H2]. split; [|exact H2].
        intros y s' [<-|H] F; [congruence|eauto].
      * intros [H1 H2]. split; eauto.
Qed.

Section Scan.
Variable h : history.
Let known := known_keys h.

Lemma scan_left ops : forall i own done,
  (forall k, PM.find k own = written_by done k) ->
  forall k, PM.find k (fst (scan known ops i own)) = written_by (done ++ ops) k.
Proof.
  induction ops as [|o ops IH]; intros i own done H k; simpl.
  - rewrite app_nil_r. apply H.
  - rewrite (IH (S i) (install o own) (done ++ [o])).
    + now rewrite <- app_assoc.
    + now apply install_written.
Qed.

Lemma scan_outside ops : forall i own done x,
  (forall k, PM.find k own = written_by done k) ->
  (In x (fst (snd (scan known ops i own))) <->
   exists n o, nth_error ops n = Some o /\ place x = i + n /\
     looks_at h o (of_key x) (told x) /\ stated x = stated_of o /\
     written_by (done ++ firstn n ops) (of_key x) = None).
Proof.
  induction ops as [|o ops IH]; intros i own done x H; simpl.
  - split; [intros []|]. intros [n [o [H1 _]]]. destruct n; discriminate.
  - rewrite split_looks_outside, (IH (S i) (install o own) (done ++ [o])) by
      now apply install_written.
    split.
    + intros [[[k a] [H1 [H2 ->]]]|[n [o' [H1 [H2 [H3 [H4 H5]]]]]]].
      * exists O, o. simpl in *. apply looks_spec in H1.
        rewrite app_nil_r, <- H. repeat split; auto; lia.
      * exists (S n), o'. simpl. rewrite <- app_assoc in H5.
        repeat split; auto; lia.
    + intros [[|n] [o' [H1 [H2 [H3 [H4 H5]]]]]]; simpl in *.
      * left. injection H1 as ->. exists (of_key x, told x).
        rewrite app_nil_r, <- H in H5. split; [now apply looks_spec|].
        split; [exact H5|]. destruct x; simpl in *. subst. f_equal. lia.
      * right. exists n, o'. rewrite <- app_assoc. repeat split; auto; lia.
Qed.

Lemma scan_consistent ops : forall i own done,
  (forall k, PM.find k own = written_by done k) ->
  (snd (snd (scan known ops i own)) = true <->
   forall n o k a s, nth_error ops n = Some o -> looks_at h o k a ->
     written_by (done ++ firstn n ops) k = Some s -> accepts a s = true).
Proof.
  induction ops as [|o ops IH]; intros i own done H; simpl.
  - split; [|auto]. intros _ [|n] o; discriminate.
  - rewrite split_looks_consistent, (IH (S i) (install o own) (done ++ [o])) by
      now apply install_written.
    split.
    + intros [H1 H2] [|n] o' k a s E L W; simpl in *.
      * injection E as ->. apply (H1 (k, a)); [now apply looks_spec|].
        simpl. now rewrite H, <- (app_nil_r done).
      * apply (H2 n o' k a s E L). now rewrite <- app_assoc.
    + intros H1. split.
      * intros [k a] s H2 H3. apply looks_spec in H2.
        apply (H1 O o k a s); auto. simpl. now rewrite app_nil_r, <- H.
      * intros n o' k a s E L W. apply (H1 (S n) o' k a s); auto.
        simpl. now rewrite <- app_assoc in W.
Qed.

Lemma empty_written (k : key) : PM.find k (PM.empty state) = written_by [] k.
Proof. now rewrite PM.gempty. Qed.

Variable t : txn.
Variable b : transaction.
Hypothesis body : transaction_of h t = Some b.
Let d := digest_of known b.

Lemma digest_left k : PM.find k (left d) = leaves h t k.
Proof.
  unfold d, digest_of, leaves. rewrite body. simpl.
  apply (scan_left (operations b) O (PM.empty state) []). apply empty_written.
Qed.

Lemma digest_outside x : In x (outside d) <->
  exists o, nth_error (operations b) (place x) = Some o /\
    looks_at h o (of_key x) (told x) /\ stated x = stated_of o /\
    written_by (firstn (place x) (operations b)) (of_key x) = None.
Proof.
  unfold d, digest_of. simpl.
  rewrite (scan_outside (operations b) O (PM.empty state) []) by
    apply empty_written.
  split.
  - intros [n [o [H1 [-> [H2 [H3 H4]]]]]]. simpl in *. eauto 6.
  - intros [o [H1 [H2 [H3 H4]]]]. exists (place x), o. simpl. auto 6.
Qed.

Lemma outside_sees x : In x (outside d) ->
  sees_others h t (place x) (of_key x) (told x).
Proof.
  intros H. apply digest_outside in H as [o [H1 [H2 [H3 H4]]]].
  exists b, o. auto.
Qed.

Lemma sees_outside i k a : sees_others h t i k a ->
  exists x, In x (outside d) /\ place x = i /\ of_key x = k /\ told x = a.
Proof.
  intros [b' [o [H1 [H2 [H3 H4]]]]]. rewrite body in H1. injection H1 as <-.
  exists {| place := i; of_key := k; told := a; stated := stated_of o |}.
  simpl. repeat split; auto. apply digest_outside. simpl. eauto.
Qed.

Lemma stated_outside i k a s : states_source h t i s -> sees_others h t i k a ->
  exists x, In x (outside d) /\ place x = i /\ of_key x = k /\ stated x = Some s.
Proof.
  intros [b' [k' [v [H1 [H2 H3]]]]] [b'' [o [H4 [H5 [H6 H7]]]]].
  rewrite body in H1, H4. injection H1 as <-. injection H4 as <-.
  rewrite H2 in H5. injection H5 as <-. inversion H6; subst.
  exists {| place := i; of_key := k; told := Is v; stated := Some s |}.
  simpl. repeat split; auto. apply digest_outside. simpl.
  exists (Read k v (Some s)). auto.
Qed.

Lemma outside_stated x s : In x (outside d) -> stated x = Some s ->
  states_source h t (place x) s.
Proof.
  intros H E. apply digest_outside in H as [o [H1 [H2 [H3 H4]]]].
  rewrite E in H3. destruct o; try discriminate. simpl in H3. subst.
  inversion H2; subst. exists b, (of_key x), v. auto.
Qed.

Lemma consistent_spec : consistent d = true <->
  forall i a s, sees_itself h t i a s -> accepts a s = true.
Proof.
  unfold d, digest_of. simpl.
  rewrite (scan_consistent (operations b) O (PM.empty state) []) by
    apply empty_written.
  split.
  - intros H i a s [b' [o [k [H1 [H2 [H3 H4]]]]]]. rewrite body in H1.
    injection H1 as <-. eauto.
  - intros H n o k a s H1 H2 H3. apply (H n a s). exists b, o, k. auto.
Qed.
End Scan.
