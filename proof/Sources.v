(* Whose write an operation may have seen, and who certainly took effect. *)
From Coq Require Import PArith List Bool FMapPositive Lia.
From Proof Require Import History Levels Digest Index.
Import ListNotations.

Record facts := {
  digests : PM.t digest;
  wrote_what : index;      (* by key and value, overwritten versions too *)
  left_what : index;       (* by key and what a reader may return *)
  left_key : index }.      (* by key alone *)

Definition left_entries (digests : PM.t digest) (whole : bool)
    (tb : txn * transaction) : list (key * positive * txn) :=
  if is_aborted (snd tb) then [] else
  match PM.find (fst tb) digests with
  | None => []
  | Some d => flat_map (fun ks =>
      if whole then [(fst ks, xH, fst tb)] else
      match snd ks with
      | Holds v => [(fst ks, code v, fst tb)]
      | Removed v => [(fst ks, code None, fst tb); (fst ks, code v, fst tb)]
      end) (PM.elements (left d))
  end.

Definition facts_of (h : history) (digests : PM.t digest) : facts :=
  let all := PM.elements (transactions h) in {|
    digests := digests;
    wrote_what := authors h;
    left_what := index_of _ (left_entries digests false) all;
    left_key := index_of _ (left_entries digests true) all |}.

Definition state_left (f : facts) (t : txn) (k : key) : option state :=
  match PM.find t (digests f) with
  | Some d => PM.find k (left d)
  | None => None
  end.

(* Those who left of the key what the answer accepts; perhaps others, too. *)
Definition leavers (f : facts) (k : key) (a : answer) : list txn :=
  match a with
  | Is v => lookup (left_what f) k (code v)
  | IsAbsent => lookup (left_what f) k (code None)
  | _ => filter (fun t => match state_left f t k with
      | Some s => accepts a s | None => false end) (lookup (left_key f) k xH)
  end.

Definition source_eqb (s t : source) : bool :=
  match s, t with
  | None, None => true
  | Some a, Some b => Pos.eqb a b
  | _, _ => false
  end.

Lemma source_eqb_eq s t : source_eqb s t = true <-> s = t.
Proof.
  destruct s, t; simpl; try (split; congruence).
  rewrite Pos.eqb_eq. split; congruence.
Qed.

Definition statement_allows (x : seen) (s : source) : bool :=
  match stated x with None => true | Some w => source_eqb w s end.

Definition sources_of (h : history) (f : facts) (t : txn) (x : seen) : list source :=
  filter (statement_allows x)
    ((if accepts (told x) (Holds (initial_value h (of_key x))) then [None] else [])
     ++ map Some (filter (fun u => negb (Pos.eqb u t))
          (leavers f (of_key x) (told x)))).

Definition may_be (l : list source) (s : source) : bool :=
  existsb (source_eqb s) l.

Lemma may_be_spec l s : may_be l s = true <-> In s l.
Proof.
  unfold may_be. rewrite existsb_exists. split.
  - intros [u [I E]]. apply source_eqb_eq in E. now subst.
  - intros I. exists s. split; [auto|]. now apply source_eqb_eq.
Qed.

Section Right.
Variable h : history.
Variable f : facts.
Hypothesis digests_right : forall t, PM.find t (digests f) =
  option_map (digest_of (known_keys h)) (transaction_of h t).
Hypothesis left_right : left_what f =
  index_of _ (left_entries (digests f) false) (PM.elements (transactions h)).
Hypothesis keys_right : left_key f =
  index_of _ (left_entries (digests f) true) (PM.elements (transactions h)).

Lemma state_left_right t k : state_left f t k = leaves h t k.
Proof.
  unfold state_left. rewrite digests_right.
  destruct (transaction_of h t) as [b|] eqn:T; cbn [option_map].
  - now apply digest_left.
  - unfold leaves. now rewrite T.
Qed.

Lemma left_entry t k s (c : positive) (whole : bool) : leaves h t k = Some s ->
  (exists b, transaction_of h t = Some b /\ status b <> Aborted) ->
  (if whole then c = xH else match s with
    | Holds v => c = code v
    | Removed v => c = code None \/ c = code v end) ->
  In t (lookup (index_of _ (left_entries (digests f) whole)
    (PM.elements (transactions h))) k c).
Proof.
  intros L [b [T A]] C. apply index_spec. exists (t, b).
  split; [now apply elements_iff|]. unfold left_entries. cbn [fst snd].
  apply is_aborted_false in A. rewrite A.
  rewrite <- state_left_right in L. unfold state_left in L.
  destruct (PM.find t (digests f)) as [d|]; [|discriminate].
  apply in_flat_map. exists (k, s). split; [now apply elements_iff|].
  cbn [fst snd]. destruct whole.
  - subst. now left.
  - destruct s; [subst; now left|]. destruct C as [-> | ->]; simpl; auto.
Qed.

Lemma leavers_complete t k a s : leaves h t k = Some s ->
  (exists b, transaction_of h t = Some b /\ status b <> Aborted) ->
  accepts a s = true -> In t (leavers f k a).
Proof.
  intros L T A.
  assert (forall c : positive, (match s with
    | Holds v => c = code v
    | Removed v => c = code None \/ c = code v end) ->
    In t (lookup (left_what f) k c)) as by_value.
  { intros c C. rewrite left_right. now apply (left_entry t k s c false). }
  assert (In t (lookup (left_key f) k xH)) as by_key.
  { rewrite keys_right. now apply (left_entry t k s xH true). }
  assert (In t (filter (fun t => match state_left f t k with
      | Some s => accepts a s | None => false end) (lookup (left_key f) k xH))) as F.
  { apply filter_In. split; [auto|]. now rewrite state_left_right, L. }
  destruct a; cbn [leavers]; auto; apply by_value; destruct s as [w|w];
    cbn [accepts shows absent] in A.
  - apply value_eqb_eq in A. now subst.
  - apply orb_true_iff in A as [A|A]; apply value_eqb_eq in A; subst; auto.
  - apply value_eqb_eq in A. now subst.
  - auto.
Qed.

Variable r : reading.
Hypothesis E : explains h r.

Lemma sources_complete t b x : transaction_of h t = Some b ->
  In x (outside (digest_of (known_keys h) b)) -> took_effect r t = true ->
  In (read_from r t (place x) (of_key x)) (sources_of h f t x).
Proof.
  intros T I Took. pose proof (outside_sees h t b T x I) as S.
  destruct (other_reads h r E t _ _ _ Took S) as [s [F A]].
  unfold sources_of. apply filter_In. split.
  - rewrite in_app_iff.
    destruct (read_from r t (place x) (of_key x)) as [w|] eqn:R; simpl in F.
    + right. apply in_map. apply filter_In.
      destruct (of_others h r E t _ _ _ w Took S R) as [W N].
      split; [|apply negb_true_iff; now apply Pos.eqb_neq].
      eapply leavers_complete; eauto. now apply (nobody_else h r E).
    + left. subst s. rewrite A. now left.
  - unfold statement_allows. destruct (stated x) as [w|] eqn:W; [|reflexivity].
    apply source_eqb_eq. symmetry.
    eapply (as_stated h r E); eauto. now apply (outside_stated h t b T x w I).
Qed.

(* --- who certainly took effect *)

Definition only_source (l : list source) : option txn :=
  match l with
  | Some u :: rest => if forallb (source_eqb (Some u)) rest then Some u else None
  | _ => None
  end.

Lemma only_source_spec l u s : only_source l = Some u -> In s l -> s = Some u.
Proof.
  unfold only_source. destruct l as [|[w|] rest]; try discriminate.
  destruct (forallb _ rest) eqn:F; [|discriminate]. intros X. injection X as ->.
  rewrite forallb_forall in F. intros [<-|I]; [auto|].
  apply F, source_eqb_eq in I. auto.
Qed.

(* The operation tells a version. That a key is in some other state, or not among
   the rows of a range, is a matter for a step that names the effect. *)
Definition tells_version (t : txn) (x : seen) : bool :=
  match told x with
  | Is _ => true
  | IsNot _ | IsPresent => false
  | IsAbsent =>
      match transaction_of h t with
      | None => false
      | Some b =>
          match nth_error (operations b) (place x) with
          | Some (Range _ _ _) => false
          | _ => true
          end
      end
  end.

Definition add_source (t : txn) (set : PM.t unit) (x : seen) : PM.t unit :=
  match only_source (sources_of h f t x) with
  | None => set
  | Some u =>
      if PM.mem u set then set
      else if tells_version t x then PM.add u tt set else set
  end.

Definition add_sources (set : PM.t unit) (t : txn) : PM.t unit :=
  match PM.find t (digests f) with
  | None => set
  | Some d => fold_left (add_source t) (outside d) set
  end.

Definition sure (set : PM.t unit) : Prop :=
  forall t, PM.mem t set = true -> took_effect r t = true.

Lemma sure_add set t : sure set -> took_effect r t = true -> sure (PM.add t tt set).
Proof. intros S T u M. apply add_mem in M as [->|M]; auto. Qed.

Lemma add_sources_sure set t : sure set -> took_effect r t = true ->
  sure (add_sources set t).
Proof.
  intros S T. unfold add_sources. rewrite digests_right.
  destruct (transaction_of h t) as [b|] eqn:B; [|exact S]. cbn [option_map].
  assert (forall l, incl l (outside (digest_of (known_keys h) b)) ->
    forall set, sure set -> sure (fold_left (add_source t) l set)) as fold.
  { induction l as [|x l IH]; intros I set' S'; [exact S'|]. simpl.
    apply IH; [intros y Y; apply I; now right|].
    unfold add_source.
    destruct (only_source (sources_of h f t x)) as [u|] eqn:O; [|exact S'].
    destruct (PM.mem u set'); [exact S'|].
    destruct (tells_version t x); [|exact S'].
    apply sure_add; [exact S'|].
    assert (In x (outside (digest_of (known_keys h) b))) as X by
      (apply I; now left).
    pose proof (sources_complete t b x B X T) as Y.
    pose proof (only_source_spec _ _ _ O Y) as Z.
    exact (proj1 (of_others h r E t _ _ _ u T (outside_sees h t b B x X) Z)). }
  apply fold; [apply incl_refl|exact S].
Qed.

Fixpoint close (fuel : nat) (set : PM.t unit) : PM.t unit :=
  match fuel with
  | O => set
  | S fuel =>
      let more :=
        fold_left (fun s tu => add_sources s (fst tu)) (PM.elements set) set in
      if Nat.eqb (PM.cardinal more) (PM.cardinal set) then set
      else close fuel more
  end.

Lemma close_sure fuel : forall set, sure set -> sure (close fuel set).
Proof.
  induction fuel as [|fuel IH]; intros set S; [exact S|]. simpl.
  destruct (Nat.eqb _ _); [exact S|]. apply IH.
  assert (forall l : list (txn * unit), (forall tu, In tu l ->
      took_effect r (fst tu) = true) -> forall s, sure s ->
    sure (fold_left (fun s tu => add_sources s (fst tu)) l s)) as fold.
  { induction l as [|tu l IHl]; intros H s Hs; [exact Hs|]. simpl. apply IHl.
    - intros x X. apply H. now right.
    - apply add_sources_sure; [exact Hs|]. apply H. now left. }
  apply fold; [|exact S]. intros [t u] I. apply elements_iff in I. apply S.
  cbn [fst]. now rewrite PM.mem_find, I.
Qed.

Definition is_unknown (b : transaction) : bool :=
  match status b with Unknown => true | _ => false end.
Definition is_committed (b : transaction) : bool :=
  match status b with Committed => true | _ => false end.

Definition stated_ones (h : history) (idx : index) : list txn :=
  flat_map (fun ko => flat_map
    (fun n => match n with Some t => [t] | None => [] end)
    (names_from h idx (fst ko) true (snd ko))) (stated_orders h).

(* Committed, named by a stated order, or the only possible source of what one
   of these saw. *)
Definition certain : PM.t unit :=
  let all := PM.elements (transactions h) in
  let set := fold_left (fun s t => PM.add t tt s)
    (stated_ones h (wrote_what f) ++
     map fst (filter (fun tb => is_committed (snd tb)) all)) (PM.empty _) in
  close (length (filter (fun tb => is_unknown (snd tb)) all)) set.

Hypothesis authors_right : wrote_what f = authors h.

Lemma certain_sure : sure certain.
Proof.
  apply close_sure.
  assert (forall l : list txn, (forall t, In t l -> took_effect r t = true) ->
    forall s, sure s -> sure (fold_left (fun s t => PM.add t tt s) l s)) as fold.
  { induction l as [|t l IH]; intros H s S; [exact S|]. simpl. apply IH.
    - intros u U. apply H. now right.
    - apply sure_add; [exact S|]. apply H. now left. }
  apply fold.
  - intros t. rewrite in_app_iff. intros [I|I].
    + unfold stated_ones in I. apply in_flat_map in I as [[k order] [O I]].
      apply in_flat_map in I as [[u|] [N I]]; [|destruct I].
      destruct I as [->|[]]. cbn [fst snd] in N. rewrite authors_right in N.
      apply In_nth_error in N as [i N]. apply names_spec in N.
      apply (stated_take_effect h r E). exists k, order, i. auto.
    + apply in_map_iff in I as [[u b] [<- I]]. apply filter_In in I as [I C].
      apply elements_iff in I. apply (committed_take_effect h r E).
      exists b. split; [exact I|]. cbn [snd] in C. unfold is_committed in C.
      now destruct (status b).
  - intros t M. rewrite PM.mem_find, PM.gempty in M. discriminate.
Qed.
End Right.
