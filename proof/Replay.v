(* Running through an order of events, one after another.

   A certificate of "satisfied" is a list of events: each transaction begins,
   where it reads, and commits, where its writes appear. Everything that the
   checker asks of the list it asks while it walks along, with a little state. *)
From Coq Require Import PArith ZArith List Bool FMapPositive Lia.
From Proof Require Import History Levels Digest.
Import ListNotations.

Section Run.
Context {A : Type}.
Variable step : A -> event -> option A.

Fixpoint run (a : A) (events : list event) : option A :=
  match events with
  | [] => Some a
  | e :: rest => match step a e with Some a' => run a' rest | None => None end
  end.

(* What holds of the state after each event, and what was found at each event
   about those before it. *)
Variable I : list event -> A -> Prop.
Variable G : list event -> event -> Prop.
Hypothesis goes_on : forall done a e a', I done a -> step a e = Some a' ->
  I (done ++ [e]) a' /\ G done e.

Lemma run_from events : forall done a z, I done a -> run a events = Some z ->
  I (done ++ events) z /\
  forall p e, nth_error events p = Some e -> G (done ++ firstn p events) e.
Proof.
  induction events as [|e events IH]; intros done a z H R; simpl in R.
  - injection R as <-. rewrite app_nil_r. split; [exact H|].
    intros [|p]; discriminate.
  - destruct (step a e) as [a'|] eqn:S; [|discriminate].
    destruct (goes_on _ _ _ _ H S) as [H1 H2].
    destruct (IH _ _ _ H1 R) as [H3 H4]. rewrite <- app_assoc in H3.
    split; [exact H3|]. intros [|p] f F; simpl in *.
    + injection F as <-. now rewrite app_nil_r.
    + specialize (H4 p f F). now rewrite <- app_assoc in H4.
Qed.

Lemma run_spec a events z : I [] a -> run a events = Some z ->
  I events z /\
  forall p e, nth_error events p = Some e -> G (firstn p events) e.
Proof. apply run_from. Qed.
End Run.

Lemma some_inv {A} (x y : A) : Some x = Some y -> x = y.
Proof. congruence. Qed.

(* --- places *)

Notation at_place events p e := (nth_error events p = Some e).

Lemma at_firstn {A} (l : list A) p q e :
  at_place (firstn p l) q e <-> q < p /\ at_place l q e.
Proof.
  revert p q. induction l as [|x l IH]; intros [|p] [|q]; simpl;
    try (split; [discriminate|intros [? ?]; (lia || discriminate)]).
  - split; [intros ->; split; [lia|auto]|tauto].
  - rewrite IH. split; intros [? ?]; split; (lia || auto).
Qed.

Lemma at_length {A} (l : list A) q e : at_place l q e -> q < length l.
Proof. intros E. apply nth_error_Some. now rewrite E. Qed.

Lemma at_snoc {A} (l : list A) q x e : at_place (l ++ [x]) q e <->
  at_place l q e \/ (q = length l /\ x = e).
Proof.
  destruct (lt_eq_lt_dec q (length l)) as [[H| ->]|H].
  - rewrite nth_error_app1 by auto. split; [auto|]. intros [E|[E _]]; [auto|lia].
  - rewrite nth_error_app2, Nat.sub_diag by auto. simpl.
    assert (nth_error l (length l) = None) as N by (now apply nth_error_None).
    rewrite N. split; [intros E; injection E as ->; auto|].
    intros [E|[_ ->]]; [discriminate|auto].
  - rewrite nth_error_app2 by lia.
    destruct (q - length l) as [|n] eqn:E; [lia|]. simpl.
    replace (nth_error [] n) with (@None A) by (now destruct n).
    assert (nth_error l q = None) as N by (apply nth_error_None; lia).
    rewrite N. split; [discriminate|]. intros [F|[F _]]; [discriminate|lia].
Qed.

Definition spot (p : nat) : positive := Pos.of_succ_nat p.

Lemma spot_lt p q : (spot p < spot q)%positive <-> p < q.
Proof. unfold spot. lia. Qed.

Definition event_eqb (e f : event) : bool :=
  Pos.eqb (fst e) (fst f) &&
  match snd e, snd f with Begin, Begin | Commit, Commit => true | _, _ => false end.

Section Order.
Variable h : history.
Variable digests : PM.t digest.
Hypothesis digests_right : forall t, PM.find t digests =
  option_map (digest_of (known_keys h)) (transaction_of h t).

(* --- each transaction begins once and commits once, after that *)

Record places := {
  begins : PM.t positive; commits : PM.t positive; next : positive }.

Definition put (s : places) (e : event) : option places :=
  let (t, m) := e in
  match m with
  | Begin =>
      match transaction_of h t with
      | Some b =>
          if is_aborted b || PM.mem t (begins s) then None
          else Some {| begins := PM.add t (next s) (begins s);
                       commits := commits s; next := Pos.succ (next s) |}
      | None => None
      end
  | Commit =>
      if PM.mem t (begins s) && negb (PM.mem t (commits s))
      then Some {| begins := begins s;
                   commits := PM.add t (next s) (commits s);
                   next := Pos.succ (next s) |}
      else None
  end.

Definition no_places : places :=
  {| begins := PM.empty _; commits := PM.empty _; next := 1%positive |}.

Definition holds_places (m : moment) (map : PM.t positive)
    (done : list event) : Prop :=
  forall t p, PM.find t map = Some p <->
    exists q, at_place done q (t, m) /\ p = spot q.

Definition well_placed (done : list event) (s : places) : Prop :=
  next s = spot (length done) /\ holds_places Begin (begins s) done /\
  holds_places Commit (commits s) done.

Lemma holds_add m map done t :
  holds_places m map done -> PM.find t map = None ->
  holds_places m (PM.add t (spot (length done)) map) (done ++ [(t, m)]).
Proof.
  intros H N u p. destruct (Pos.eq_dec u t) as [->|ne].
  - rewrite PM.gss. split.
    + intros E. injection E as <-. exists (length done). split; [|auto].
      apply at_snoc. auto.
    + intros [q [E ->]]. apply at_snoc in E as [E|[-> _]]; [|auto].
      assert (PM.find t map = Some (spot q)) by (apply H; eauto). congruence.
  - rewrite PM.gso, (H u p) by auto. split; intros [q [E ->]]; exists q; split; auto.
    + apply at_snoc. auto.
    + apply at_snoc in E as [E|[_ E]]; [auto|congruence].
Qed.

Lemma holds_other m map done t n :
  holds_places m map done -> n <> m -> holds_places m map (done ++ [(t, n)]).
Proof.
  intros H N u p. rewrite (H u p). split; intros [q [E ->]]; exists q; split; auto.
  - apply at_snoc. auto.
  - apply at_snoc in E as [E|[_ E]]; [auto|congruence].
Qed.

Definition rightly_placed (done : list event) (e : event) : Prop :=
  ~ In e done /\ (snd e = Commit -> In (fst e, Begin) done) /\
  exists b, transaction_of h (fst e) = Some b /\ status b <> Aborted.

(* Of transactions that have begun we know already that they did not abort. *)
Definition begun_right (done : list event) : Prop :=
  forall t, In (t, Begin) done ->
    exists b, transaction_of h t = Some b /\ status b <> Aborted.

Lemma put_spec done s e s' : well_placed done s /\ begun_right done ->
  put s e = Some s' ->
  (well_placed (done ++ [e]) s' /\ begun_right (done ++ [e])) /\
  rightly_placed done e.
Proof.
  destruct e as [t m]. intros [[N [B C]] R]. unfold put.
  assert (forall x (map : PM.t positive), holds_places x map done ->
      PM.mem t map = false -> PM.find t map = None /\ ~ In (t, x) done) as fresh.
  { intros x map H M. rewrite PM.mem_find in M.
    destruct (PM.find t map) eqn:E; [discriminate|]. split; [auto|].
    intros F. apply In_nth_error in F as [q F].
    assert (PM.find t map = Some (spot q)) by (apply H; eauto). congruence. }
  destruct m.
  - destruct (transaction_of h t) as [b|] eqn:T; [|discriminate].
    destruct (is_aborted b) eqn:A; [discriminate|]. simpl.
    destruct (PM.mem t (begins s)) eqn:M; [discriminate|].
    intros E. injection E as <-. destruct (fresh _ _ B M) as [F1 F2].
    apply is_aborted_false in A.
    split; [split; [split; [|split]|]|split; [|split]]; cbn [begins commits next].
    + rewrite N, app_length. simpl. unfold spot. lia.
    + rewrite N. now apply holds_add.
    + apply holds_other; [auto|discriminate].
    + intros u F. apply in_app_or in F as [F|[F|[]]]; [auto|].
      injection F as <-. eauto.
    + exact F2.
    + discriminate.
    + cbn [fst]. eauto.
  - destruct (PM.mem t (begins s)) eqn:M; [|discriminate]. simpl.
    destruct (PM.mem t (commits s)) eqn:M2; [discriminate|]. simpl.
    intros E. injection E as <-. destruct (fresh _ _ C M2) as [F1 F2].
    assert (In (t, Begin) done) as F3.
    { rewrite PM.mem_find in M. destruct (PM.find t (begins s)) as [p|] eqn:E;
        [|discriminate]. apply B in E as [q [E _]]. eapply nth_error_In; eauto. }
    split; [split; [split; [|split]|]|split; [|split]]; cbn [begins commits next].
    + rewrite N, app_length. simpl. unfold spot. lia.
    + apply holds_other; [auto|discriminate].
    + rewrite N. now apply holds_add.
    + intros u F. apply in_app_or in F as [F|[F|[]]]; [auto|discriminate].
    + exact F2.
    + auto.
    + cbn [fst]. auto.
Qed.

(* --- what each key holds *)

Definition last_writer (done : list event) (k : key) : option (txn * state) :=
  fold_left (fun held e =>
    match snd e with
    | Begin => held
    | Commit =>
        match leaves h (fst e) k with
        | Some s => Some (fst e, s)
        | None => held
        end
    end) done None.

Lemma last_writer_snoc done e k : last_writer (done ++ [e]) k =
  match snd e with
  | Begin => last_writer done k
  | Commit => match leaves h (fst e) k with
              | Some s => Some (fst e, s)
              | None => last_writer done k
              end
  end.
Proof. unfold last_writer. now rewrite fold_left_app. Qed.

Definition latest (done : list event) (k : key) (held : option (txn * state)) :
    Prop :=
  match held with
  | Some (w, s) => leaves h w k = Some s /\
      exists q, at_place done q (w, Commit) /\
      forall q' u, q < q' -> at_place done q' (u, Commit) -> leaves h u k = None
  | None => forall q u, at_place done q (u, Commit) -> leaves h u k = None
  end.

Lemma last_writer_latest done k : latest done k (last_writer done k).
Proof.
  induction done as [|[t m] done IH] using rev_ind.
  - intros [|q] u; discriminate.
  - rewrite last_writer_snoc. cbn [fst snd].
    assert (m = Begin \/ leaves h t k = None ->
      latest (done ++ [(t, m)]) k (last_writer done k)) as old.
    { intros O. destruct (last_writer done k) as [[w s]|]; simpl in *.
      - destruct IH as [H1 [q [H2 H3]]]. split; [auto|]. exists q. split.
        + apply at_snoc. auto.
        + intros q' u L E. apply at_snoc in E as [E|[_ E]]; [eauto|].
          injection E as -> ->. destruct O; [discriminate|auto].
      - intros q u E. apply at_snoc in E as [E|[_ E]]; [eauto|].
        injection E as -> ->. destruct O; [discriminate|auto]. }
    destruct m; [auto|]. destruct (leaves h t k) as [s|] eqn:L; [|auto].
    simpl. split; [auto|]. exists (length done). split; [apply at_snoc; auto|].
    intros q' u Q E. apply at_snoc in E as [E|[-> _]]; [|lia].
    apply at_length in E. lia.
Qed.

Definition fold_left_writes (t : txn) (l : list (key * state))
    (held : PM.t (txn * state)) : PM.t (txn * state) :=
  fold_left (fun held ks => PM.add (fst ks) (t, snd ks) held) l held.

Lemma fold_writes t l : forall held k,
  (exists s, In (k, s) l /\ PM.find k (fold_left_writes t l held) = Some (t, s))
  \/ ((forall s, ~ In (k, s) l) /\
      PM.find k (fold_left_writes t l held) = PM.find k held).
Proof.
  induction l as [|[k' s'] l IH]; intros held k; simpl; [auto|].
  unfold fold_left_writes in *. simpl.
  destruct (IH (PM.add k' (t, s') held) k) as [[s [H1 H2]]|[H1 H2]]; [eauto|].
  destruct (Pos.eq_dec k k') as [->|ne].
  - left. exists s'. rewrite H2, PM.gss. auto.
  - right. rewrite H2, PM.gso by auto. split; [|auto].
    intros s [E|E]; [congruence|]. apply (H1 s E).
Qed.

Definition judge_one (held : PM.t (txn * state)) (x : seen) : bool :=
  let (from, s) := match PM.find (of_key x) held with
    | Some (w, s) => (Some w, s)
    | None => (None, Holds (initial_value h (of_key x)))
    end in
  accepts (told x) s &&
  match stated x with
  | None => true
  | Some None => match from with None => true | Some _ => false end
  | Some (Some w) => match from with Some v => Pos.eqb v w | None => false end
  end.

Definition execute (held : PM.t (txn * state)) (e : event) :
    option (PM.t (txn * state)) :=
  match PM.find (fst e) digests with
  | None => None
  | Some d =>
      match snd e with
      | Begin =>
          if consistent d && forallb (judge_one held) (outside d)
          then Some held else None
      | Commit => Some (fold_left_writes (fst e) (PM.elements (left d)) held)
      end
  end.

Definition writer_of (held : option (txn * state)) : source := option_map fst held.

Definition sees_what_is_there (done : list event) (e : event) : Prop :=
  snd e = Begin ->
  (forall i a s, sees_itself h (fst e) i a s -> accepts a s = true) /\
  (forall i k a, sees_others h (fst e) i k a ->
    exists s, found h k (writer_of (last_writer done k)) s /\ accepts a s = true) /\
  (forall i k a s, states_source h (fst e) i s -> sees_others h (fst e) i k a ->
    writer_of (last_writer done k) = s).

Lemma execute_spec done held e held' :
  (forall k, PM.find k held = last_writer done k) -> execute held e = Some held' ->
  (forall k, PM.find k held' = last_writer (done ++ [e]) k) /\
  sees_what_is_there done e.
Proof.
  destruct e as [t m]. intros H. unfold execute. cbn [fst snd].
  rewrite digests_right. destruct (transaction_of h t) as [b|] eqn:T; [|discriminate].
  cbn [option_map]. destruct m.
  - destruct (consistent _) eqn:C; [|discriminate].
    destruct (forallb _ _) eqn:F; [|discriminate]. intros E. injection E as <-.
    split; [intros k; rewrite last_writer_snoc; apply H|].
    intros _. cbn [fst].
    assert (forall x, In x (outside (digest_of (known_keys h) b)) ->
      judge_one held x = true) as J by (now apply forallb_forall).
    split; [|split].
    + now apply (consistent_spec h t b).
    + intros i k a S. apply (sees_outside h t b T) in S as [x [X [<- [<- <-]]]].
      specialize (J x X). unfold judge_one in J. rewrite H in J.
      pose proof (last_writer_latest done (of_key x)) as L.
      destruct (last_writer done (of_key x)) as [[w s]|];
        apply andb_true_iff in J as [J _]; eexists; (split; [|exact J]);
        [apply L|reflexivity].
    + intros i k a s S1 S2.
      destruct (stated_outside h t b T i k a s S1 S2) as [x [X [<- [<- E]]]].
      specialize (J x X). unfold judge_one in J. rewrite H, E in J.
      destruct (last_writer done (of_key x)) as [[w y]|];
        apply andb_true_iff in J as [_ J]; destruct s as [v|]; try discriminate;
        [|reflexivity]. apply Pos.eqb_eq in J. now subst.
  - intros E. apply some_inv in E. subst held'.
    split; [|intros ?; discriminate].
    intros k. rewrite last_writer_snoc. cbn [fst snd].
    pose proof (digest_left h t b T k) as L.
    destruct (fold_writes t
      (PM.elements (left (digest_of (known_keys h) b))) held k)
      as [[s [F1 ->]]|[F1 ->]].
    + apply elements_iff in F1. rewrite F1 in L. now rewrite <- L.
    + rewrite <- L. destruct (PM.find k (left _)) eqn:F; [|apply H].
      apply elements_iff in F. exfalso. eapply F1; eauto.
Qed.

(* --- sessions: who commits has nobody behind it in its session who began *)

Definition follow (latest_begun : PM.t txn) (e : event) : option (PM.t txn) :=
  match transaction_of h (fst e) with
  | None => None
  | Some b =>
      match snd e with
      | Begin => Some (match PM.find (session b) latest_begun with
          | Some u => if Pos.ltb (fst e) u then latest_begun
                      else PM.add (session b) (fst e) latest_begun
          | None => PM.add (session b) (fst e) latest_begun
          end)
      | Commit =>
          match status b, PM.find (session b) latest_begun with
          | Committed, Some u =>
              if Pos.leb u (fst e) then Some latest_begun else None
          | _, _ => Some latest_begun
          end
      end
  end.

Definition bounds_session (done : list event) (m : PM.t txn) : Prop :=
  forall t b, In (t, Begin) done -> transaction_of h t = Some b ->
    exists u, PM.find (session b) m = Some u /\ (t <= u)%positive.

Definition follows_session (done : list event) (e : event) : Prop :=
  snd e = Commit -> forall t, In (t, Begin) done -> ~ session_before h (fst e) t.

Lemma follow_spec done m e m' : bounds_session done m -> follow m e = Some m' ->
  bounds_session (done ++ [e]) m' /\ follows_session done e.
Proof.
  destruct e as [t x]. intros H. unfold follow. cbn [fst snd].
  destruct (transaction_of h t) as [b|] eqn:T; [|discriminate]. destruct x.
  - intros E. split; [|intros ?; discriminate].
    assert (forall u c, In (u, Begin) (done ++ [(t, Begin)]) ->
      transaction_of h u = Some c -> session c <> session b \/
      (In (u, Begin) done \/ u = t)) as cases.
    { intros u c F _. right. apply in_app_or in F as [F|[F|[]]]; [auto|].
      injection F as <-. auto. }
    intros u c F U. specialize (cases u c F U).
    apply in_app_or in F. simpl in F.
    destruct (PM.find (session b) m) as [w|] eqn:W; injection E as <-.
    + destruct (Pos.ltb_spec t w).
      * destruct F as [F|[F|[]]]; [eauto|]. injection F as <-.
        rewrite T in U. injection U as <-. exists w. split; [auto|lia].
      * destruct (Pos.eq_dec (session c) (session b)) as [S|S].
        -- rewrite S, PM.gss. exists t. split; [auto|].
           destruct F as [F|[F|[]]]; [|injection F as <-; lia].
           destruct (H u c F U) as [y [Y1 Y2]]. rewrite S, W in Y1.
           injection Y1 as <-. lia.
        -- rewrite PM.gso by auto. destruct F as [F|[F|[]]]; [eauto|].
           injection F as <-. congruence.
    + destruct (Pos.eq_dec (session c) (session b)) as [S|S].
      * rewrite S, PM.gss. exists t. split; [auto|].
        destruct F as [F|[F|[]]]; [|injection F as <-; lia].
        destruct (H u c F U) as [y [Y1 Y2]]. rewrite S, W in Y1. discriminate.
      * rewrite PM.gso by auto. destruct F as [F|[F|[]]]; [eauto|].
        injection F as <-. congruence.
  - assert (bounds_session (done ++ [(t, Commit)]) m) as H'.
    { intros u c F U. apply in_app_or in F as [F|[F|[]]]; [eauto|discriminate]. }
    intros E.
    assert (m' = m) as ->.
    { destruct (status b), (PM.find (session b) m); try congruence.
      destruct (Pos.leb _ _); congruence. }
    split; [exact H'|]. intros _ u F [a [c [A [C [S [St L]]]]]]. cbn [fst] in *.
    rewrite T in A. injection A as <-.
    destruct (H u c F C) as [w [W1 W2]]. rewrite St, S, W1 in E.
    destruct (Pos.leb_spec w t); [lia|discriminate].
Qed.

(* --- snapshots: nobody wrote a key of a transaction between its two events *)

Variable begun : PM.t positive.  (* at the place of the event, from 1 *)

Definition exclude (st : positive * PM.t positive) (e : event) :
    option (positive * PM.t positive) :=
  let (n, last) := st in
  match snd e with
  | Begin => Some (Pos.succ n, last)
  | Commit =>
      match PM.find (fst e) begun, PM.find (fst e) digests with
      | Some p, Some d =>
          let ks := map fst (PM.elements (left d)) in
          if forallb (fun k => match PM.find k last with
                | Some q => Pos.ltb q p | None => true end) ks
          then Some (Pos.succ n, fold_left (fun m k => PM.add k n m) ks last)
          else None
      | _, _ => None
      end
  end.

Definition bounds_writes (done : list event) (st : positive * PM.t positive) :
    Prop :=
  fst st = spot (length done) /\
  (forall k p, PM.find k (snd st) = Some p -> (p < fst st)%positive) /\
  forall u q k, at_place done q (u, Commit) -> writes h u k ->
    exists p, PM.find k (snd st) = Some p /\ (spot q <= p)%positive.

Definition excludes_writers (done : list event) (e : event) : Prop :=
  snd e = Commit -> forall u q k, at_place done q (u, Commit) ->
  writes h u k -> writes h (fst e) k ->
  exists p, PM.find (fst e) begun = Some p /\ (spot q < p)%positive.

Lemma left_keys t b k : transaction_of h t = Some b ->
  (writes h t k <->
   In k (map fst (PM.elements (left (digest_of (known_keys h) b))))).
Proof.
  intros T. unfold writes. rewrite in_map_iff. split.
  - intros [s E]. rewrite <- (digest_left h t b T) in E. exists (k, s).
    split; [auto|]. now apply elements_iff.
  - intros [[k' s] [<- E]]. exists s. rewrite <- (digest_left h t b T).
    now apply elements_iff.
Qed.

Lemma add_all_find ks n : forall (m : PM.t positive) k,
  (In k ks /\ PM.find k (fold_left (fun m k => PM.add k n m) ks m) = Some n) \/
  (~ In k ks /\
   PM.find k (fold_left (fun m k => PM.add k n m) ks m) = PM.find k m).
Proof.
  induction ks as [|k' ks IH]; intros m k; simpl; [auto|].
  destruct (IH (PM.add k' n m) k) as [[H1 H2]|[H1 H2]]; [auto|].
  destruct (Pos.eq_dec k k') as [->|ne].
  - left. rewrite H2, PM.gss. auto.
  - right. rewrite H2, PM.gso by auto. intuition.
Qed.

Lemma exclude_spec done st e st' : bounds_writes done st ->
  exclude st e = Some st' ->
  bounds_writes (done ++ [e]) st' /\ excludes_writers done e.
Proof.
  destruct e as [t x], st as [n last]. intros [N [B H]]. unfold exclude.
  cbn [fst snd] in *. destruct x.
  - intros E. injection E as <-. split; [|intros ?; discriminate].
    split; [|split]; cbn [fst snd].
    + rewrite N, app_length. simpl. unfold spot. lia.
    + intros k p F. specialize (B k p F). lia.
    + intros u q k F. apply at_snoc in F as [F|[_ F]]; [eauto|discriminate].
  - destruct (PM.find t begun) as [p|] eqn:P; [|discriminate].
    rewrite digests_right. destruct (transaction_of h t) as [b|] eqn:T;
      [|discriminate]. cbn [option_map].
    destruct (forallb _ _) eqn:F; [|discriminate]. intros E.
    apply some_inv in E. subst st'. rewrite forallb_forall in F. split.
    + split; [|split]; cbn [fst snd].
      * rewrite N, app_length. simpl. unfold spot. lia.
      * intros k q E. destruct (add_all_find
          (map fst (PM.elements (left (digest_of (known_keys h) b)))) n last k)
          as [[_ E2]|[_ E2]]; rewrite E2 in E; [injection E as <-; lia|].
        specialize (B k q E). lia.
      * intros u q k E W. destruct (add_all_find
          (map fst (PM.elements (left (digest_of (known_keys h) b)))) n last k)
          as [[E1 E2]|[E1 E2]]; rewrite E2.
        -- exists n. split; [auto|]. rewrite N.
           pose proof (at_length _ _ _ E) as Q.
           rewrite app_length in Q. simpl in Q. unfold spot. lia.
        -- apply at_snoc in E as [E|[_ E]]; [eauto|]. injection E as <-.
           rewrite (left_keys t b k T) in W. contradiction.
    + intros _ u q k E W1 W2. cbn [fst] in *. exists p. split; [auto|].
      rewrite (left_keys t b k T) in W2. specialize (F k W2).
      destruct (H u q k E W1) as [y [Y1 Y2]]. rewrite Y1 in F.
      apply Pos.ltb_lt in F. lia.
Qed.

(* --- serializability: a transaction commits right after it began *)

Definition at_once (running : option txn) (e : event) : option (option txn) :=
  match snd e, running with
  | Begin, None => Some (Some (fst e))
  | Commit, Some t => if Pos.eqb t (fst e) then Some None else None
  | _, _ => None
  end.

Definition ends_in (done : list event) (running : option txn) : Prop :=
  match running with
  | Some t => exists d, done = d ++ [(t, Begin)]
  | None => True
  end.

Definition right_after (done : list event) (e : event) : Prop :=
  snd e = Commit -> exists d, done = d ++ [(fst e, Begin)].

Lemma at_once_spec done r e r' : ends_in done r -> at_once r e = Some r' ->
  ends_in (done ++ [e]) r' /\ right_after done e.
Proof.
  destruct e as [t [|]]; unfold at_once; cbn [fst snd]; destruct r as [u|];
    intros H E; try discriminate.
  - injection E as <-. split; [|intros ?; discriminate]. exists done. auto.
  - destruct (Pos.eqb_spec u t) as [->|]; [|discriminate]. injection E as <-.
    split; [exact I|]. intros _. exact H.
Qed.

(* --- the clock: no [m] of a transaction after an [n] that lies behind it *)

Variables m n : moment.

Definition moment_eqb (x y : moment) : bool :=
  match x, y with Begin, Begin | Commit, Commit => true | _, _ => false end.

Definition apart (x : option Z) (y : option Z) (gap : Z) : bool :=
  match x, y with
  | Some x, Some y => Z.ltb x y && Z.leb gap (y - x)
  | _, _ => false
  end.

Definition later (x : option Z) (y : Z) : Z :=
  match x with Some x => Z.max x y | None => y end.

Definition tick (st : option Z * PM.t Z) (e : event) : option (option Z * PM.t Z) :=
  match transaction_of h (fst e) with
  | None => None
  | Some b =>
      let x := response (when b (snd e)) in
      if moment_eqb (snd e) m &&
         (apart x (fst st) (drift h) || apart x (PM.find (session b) (snd st)) 0)
      then None
      else match moment_eqb (snd e) n, request (when b (snd e)) with
        | true, Some y => Some (Some (later (fst st) y),
            PM.add (session b) (later (PM.find (session b) (snd st)) y) (snd st))
        | _, _ => Some st
        end
  end.

Definition bounds_requests (done : list event) (st : option Z * PM.t Z) : Prop :=
  forall t b y, In (t, n) done -> transaction_of h t = Some b ->
  request (when b n) = Some y ->
  exists all own, fst st = Some all /\ PM.find (session b) (snd st) = Some own /\
    (y <= all /\ y <= own)%Z.

Definition in_time (done : list event) (e : event) : Prop :=
  snd e = m -> forall t, In (t, n) done -> ~ clock_before h (fst e) m t n.

Lemma tick_spec done st e st' : bounds_requests done st -> tick st e = Some st' ->
  bounds_requests (done ++ [e]) st' /\ in_time done e.
Proof.
  destruct e as [t x]. intros H. unfold tick. cbn [fst snd].
  destruct (transaction_of h t) as [b|] eqn:T; [|discriminate].
  destruct (moment_eqb x m && _) eqn:C; [discriminate|]. intros E. split.
  - intros u c y F U R. apply in_app_or in F.
    assert (In (u, n) done -> exists all own, fst st = Some all /\
      PM.find (session c) (snd st) = Some own /\ (y <= all /\ y <= own)%Z) as old
      by eauto.
    assert ((t, x) = (u, n) -> moment_eqb x n = true /\
      request (when b x) = Some y /\ session b = session c) as new.
    { intros P. injection P as -> ->. rewrite T in U. injection U as <-.
      split; [now destruct n|auto]. }
    destruct (moment_eqb x n) eqn:M; [destruct (request (when b x)) as [z|] eqn:Z|].
    + injection E as <-. cbn [fst snd].
      destruct (Pos.eq_dec (session c) (session b)) as [S|S].
      * rewrite S, PM.gss. do 2 eexists. split; [reflexivity|]. split; [reflexivity|].
        destruct F as [F|[F|[]]].
        -- destruct (old F) as [all [own [O1 [O2 O3]]]]. rewrite O1, <- S, O2.
           simpl. lia.
        -- destruct (new F) as [_ [N1 _]]. injection N1 as ->.
           destruct (fst st), (PM.find (session b) (snd st)); simpl; lia.
      * rewrite PM.gso by auto. destruct F as [F|[F|[]]].
        -- destruct (old F) as [all [own [O1 [O2 O3]]]]. rewrite O1.
           exists (Z.max all z), own. simpl. repeat split; auto; lia.
        -- destruct (new F) as [_ [_ N2]]. congruence.
    + injection E as <-. destruct F as [F|[F|[]]]; [auto|].
      destruct (new F) as [_ [N1 _]]. discriminate.
    + assert (st' = st) as -> by (destruct (request _); congruence).
      destruct F as [F|[F|[]]]; [auto|]. destruct (new F) as [N1 _]. discriminate.
  - intros X u F [a [c [y [z [A [U [Y [Z [L D]]]]]]]]].
    cbn [fst snd] in *. subst x. rewrite T in A. injection A as <-.
    destruct (H u c z F U Z) as [all [own [O1 [O2 [O3 O4]]]]].
    assert (moment_eqb m m = true) as M by (now destruct m).
    rewrite M, Y in C. simpl in C. apply orb_false_iff in C as [C1 C2].
    rewrite O1 in C1. unfold apart in C1, C2.
    apply andb_false_iff in C1. rewrite Z.ltb_ge, Z.leb_gt in C1.
    destruct D as [D|D].
    + rewrite D, O2 in C2. apply andb_false_iff in C2.
      rewrite Z.ltb_ge, Z.leb_gt in C2. lia.
    + lia.
Qed.
End Order.
