(* Read committed, read atomic and causal: a commit order and, for each read, its
   source are the certificate. The checker walks along the order and looks, for
   each read, at those who wrote its key after its source did: none of them may
   be visible to the reader, and that is the axiom.

   Why that is quick: most reads are of the last writer, and then nobody wrote
   the key since. *)
From Coq Require Import PArith ZArith List Bool FMapPositive Relations Lia Wf_nat.
From Proof Require Import History Levels Digest Index Replay Satisfied Model
  Sources Orders.
Import ListNotations.

Definition both_events (co : list txn) : list event :=
  flat_map (fun t => [(t, Begin); (t, Commit)]) co.

Fixpoint since (s : source) (writers : list txn) : list txn :=
  match writers with
  | [] => []
  | t :: rest =>
      match s with
      | Some w => if Pos.eqb t w then [] else t :: since s rest
      | None => t :: since s rest
      end
  end.

(* The thread of a transaction: its session, which a clock of causality counts
   by one number; who is left without an answer is a thread of its own. *)
Definition thread (h : history) (t : txn) : positive :=
  match transaction_of h t with
  | Some b => if is_committed b then xO (session b) else xI t
  | None => xI t
  end.

Definition clock := PM.t positive.

Section Check.
Variable h : history.
Variable f : facts.
Variable chosen : PM.t (list source).  (* in the order of [outside] *)

Definition reads_of (t : txn) : list (seen * source) :=
  match PM.find t (digests f), PM.find t chosen with
  | Some d, Some l => combine (outside d) l
  | _, _ => []
  end.

Definition choice (t : txn) (i : nat) (k : key) : source :=
  match find (fun xs => Nat.eqb (place (fst xs)) i && Pos.eqb (of_key (fst xs)) k)
    (reads_of t) with
  | Some xs => snd xs
  | None => None
  end.

(* --- what is visible; perhaps more *)

Variable commits_at : PM.t positive.  (* places in the order *)
Variable clock_of : PM.t clock.

Definition entry (t : txn) (th : positive) : positive :=
  match PM.find t clock_of with
  | Some c => match PM.find th c with Some p => Pos.succ p | None => xH end
  | None => xH
  end.

Definition number (t : txn) : positive :=
  match PM.find t commits_at with Some p => Pos.succ p | None => xH end.

Definition earlier_in_session (s t : txn) : bool :=
  match transaction_of h s, transaction_of h t with
  | Some a, Some b => Pos.eqb (session a) (session b) && is_committed a &&
      Pos.ltb s t
  | _, _ => false
  end.

Definition is_visible (kind : seeing) (t : txn) (x : seen) (u : txn) : bool :=
  match kind with
  | ByEarlierRead => existsb (fun ys => Nat.ltb (place (fst ys)) (place x) &&
      source_eqb (snd ys) (Some u)) (reads_of t)
  | ByStep => earlier_in_session u t ||
      existsb (fun ys => source_eqb (snd ys) (Some u)) (reads_of t)
  | ByPath => Pos.leb (number u) (entry t (thread h u))
  end.

(* --- one event *)

Record weighing := { committed_so_far : PM.t unit; writers_so_far : PM.t (list txn) }.

Definition writers_at (st : weighing) (k : key) : list txn :=
  match PM.find k (writers_so_far st) with Some l => l | None => [] end.

Definition right_source (st : weighing) (x : seen) (s : source) : bool :=
  match s with
  | None => accepts (told x) (Holds (initial_value h (of_key x)))
  | Some w => PM.mem w (committed_so_far st) &&
      match state_left f w (of_key x) with
      | Some y => accepts (told x) y
      | None => false
      end
  end.

Definition weigh_read (kind : seeing) (st : weighing) (t : txn)
    (xs : seen * source) : bool :=
  let (x, s) := xs in
  right_source st x s && statement_allows x s &&
  source_eqb (choice t (place x) (of_key x)) s &&
  forallb (fun u => negb (is_visible kind t x u)) (since s (writers_at st (of_key x))).

Definition weigh (kind : seeing) (st : weighing) (e : event) : option weighing :=
  match PM.find (fst e) (digests f) with
  | None => None
  | Some d =>
      match snd e with
      | Begin =>
          match PM.find (fst e) chosen with
          | Some l =>
              if Nat.eqb (length l) (length (outside d)) && consistent d &&
                 forallb (weigh_read kind st (fst e)) (reads_of (fst e))
              then Some st else None
          | None => None
          end
      | Commit => Some {|
          committed_so_far := PM.add (fst e) tt (committed_so_far st);
          writers_so_far := fold_left (fun m k =>
            PM.add k (fst e :: match PM.find k m with Some l => l | None => [] end) m)
            (map fst (PM.elements (left d))) (writers_so_far st) |}
      end
  end.

(* --- clocks: that of a transaction bounds those of whom it saw at once *)

Definition dominates (s t : txn) : bool :=
  Pos.leb (number s) (entry t (thread h s)) &&
  match PM.find s clock_of with
  | Some c => forallb (fun thp => Pos.leb (Pos.succ (snd thp)) (entry t (fst thp)))
      (PM.elements c)
  | None => true
  end.

(* Of each session those that committed, the last one first. *)
Definition in_session (last : PM.t (list txn)) (c : positive) : list txn :=
  match PM.find c last with Some l => l | None => [] end.

Definition tell (last : PM.t (list txn)) (e : event) : option (PM.t (list txn)) :=
  match transaction_of h (fst e) with
  | None => None
  | Some b =>
      match snd e with
      | Begin =>
          if forallb (fun xs => match snd xs with
                | Some s => dominates s (fst e) | None => true end)
               (reads_of (fst e)) &&
             match find (fun s => Pos.ltb s (fst e)) (in_session last (session b)) with
             | Some s => dominates s (fst e) | None => true end
          then Some last else None
      | Commit =>
          Some (if is_committed b
                then PM.add (session b) (fst e :: in_session last (session b)) last
                else last)
      end
  end.
End Check.

Definition check_commit_order (h : history) (f : facts) (kind : seeing)
    (co : list txn) (chosen : PM.t (list source)) (clock_of : PM.t clock) : bool :=
  let events := both_events co in
  match run (put h) no_places events with
  | None => false
  | Some s =>
      forallb (fun e => PM.mem (fst e) (commits s)) events &&
      all_committed h (commits s) &&
      stated_in_order h (wrote_what f) (commits s) &&
      is_some (run (follow h) (PM.empty _) events) &&
      is_some (run (weigh h f chosen (commits s) clock_of kind)
        {| committed_so_far := PM.empty _; writers_so_far := PM.empty _ |} events) &&
      match kind with
      | ByPath =>
          is_some (run (tell h f chosen (commits s) clock_of) (PM.empty _) events)
      | _ => true
      end
  end.

(* --- why it is right *)

Section Sound.
Variables (h : history) (f : facts).
Hypothesis digests_right : forall t, PM.find t (digests f) =
  option_map (digest_of (known_keys h)) (transaction_of h t).
Hypothesis wrote_right : wrote_what f = authors h.
Variables (chosen : PM.t (list source)) (clock_of : PM.t clock) (kind : seeing).
Variable events : list event.
Variable s0 : places.
Hypothesis placed : run (put h) no_places events = Some s0.
Hypothesis both : forall e, In e events -> PM.mem (fst e) (commits s0) = true.
Hypothesis everybody : all_committed h (commits s0) = true.
Hypothesis stated_right : stated_in_order h (wrote_what f) (commits s0) = true.
Hypothesis followed : is_some (run (follow h) (PM.empty _) events) = true.
Hypothesis weighed : is_some (run (weigh h f chosen (commits s0) clock_of kind)
  {| committed_so_far := PM.empty _; writers_so_far := PM.empty _ |} events) = true.

Notation lt := (Satisfied.lt events).
Notation took := (Satisfied.took s0).
Notation reads_of := (reads_of f chosen).
Notation choice := (choice f chosen).
Notation is_visible := (is_visible h f chosen (commits s0) clock_of kind).

Fixpoint writers_until (done : list event) (k : key) : list txn :=
  match done with   (* the last event first *)
  | [] => []
  | (t, Commit) :: rest =>
      match leaves h t k with
      | Some _ => t :: writers_until rest k
      | None => writers_until rest k
      end
  | _ :: rest => writers_until rest k
  end.

Lemma since_or_later done u k s : In (u, Commit) done -> writes h u k ->
  In u (since s (writers_until done k)) \/
  exists w, s = Some w /\
    (w = u \/ exists d1 d2, done = d1 ++ d2 /\ In (w, Commit) d1 /\
      In (u, Commit) d2).
Proof.
  intros I [y W]. induction done as [|[t m] done IH]; [destruct I|].
  assert (In (u, Commit) done -> writers_until ((t, m) :: done) k =
      writers_until done k \/ exists y, leaves h t k = Some y /\ m = Commit /\
      writers_until ((t, m) :: done) k = t :: writers_until done k) as step.
  { intros _. simpl. destruct m; [auto|]. destruct (leaves h t k); eauto. }
  destruct I as [I|I].
  - injection I as -> ->. simpl. rewrite W. simpl.
    destruct s as [w|]; [|left; now left].
    destruct (Pos.eqb_spec u w) as [->|N]; [right; eauto|left; now left].
  - destruct (step I) as [-> | [z [Z [-> ->]]]].
    + destruct (IH I) as [J|[w [-> [->|[d1 [d2 [-> [J K]]]]]]]]; [auto|eauto|].
      right. exists w. split; [auto|]. right. exists ((t, m) :: d1), d2.
      split; [auto|]. split; [now right|auto].
    + simpl. destruct s as [w|].
      * destruct (Pos.eqb_spec t w) as [->|N].
        -- right. exists w. split; [auto|]. right. exists [(w, Commit)], done.
           split; [auto|]. split; [now left|auto].
        -- destruct (IH I) as [J|[x [X [->|[d1 [d2 [-> [J K]]]]]]]].
           ++ left. now right.
           ++ right. eauto.
           ++ right. exists x. split; [auto|]. right.
              exists ((t, Commit) :: d1), d2. split; [auto|]. split; [now right|auto].
      * left. right. destruct (IH I) as [J|[x [X _]]]; [auto|discriminate].
Qed.

Definition weighed_right (done : list event) (st : weighing) : Prop :=
  (forall t, PM.mem t (committed_so_far st) = true -> In (t, Commit) done) /\
  forall k, writers_at st k = writers_until (rev done) k.

Definition weighs (done : list event) (e : event) : Prop :=
  snd e = Begin -> exists d, PM.find (fst e) (digests f) = Some d /\
  consistent d = true /\
  (forall x, In x (outside d) -> exists s, In (x, s) (reads_of (fst e))) /\
  forall x s, In (x, s) (reads_of (fst e)) ->
    (match s with
     | None => accepts (told x) (Holds (initial_value h (of_key x))) = true
     | Some w => In (w, Commit) done /\
         exists y, leaves h w (of_key x) = Some y /\ accepts (told x) y = true
     end) /\ statement_allows x s = true /\
    choice (fst e) (place x) (of_key x) = s /\
    forall u, In u (since s (writers_until (rev done) (of_key x))) ->
      is_visible (fst e) x u = false.

Lemma combine_all {A B} (l : list A) : forall m : list B, length m = length l ->
  forall x, In x l -> exists y, In (x, y) (combine l m).
Proof.
  induction l as [|a l IH]; intros [|b m] L x I; simpl in *; try discriminate;
    [destruct I|].
  destruct I as [->|I]; [eauto|].
  destruct (IH m (eq_add_S _ _ L) x I) as [y Y]. eauto.
Qed.

Lemma push_writers t ks : NoDup ks -> forall (m : PM.t (list txn)) k,
  PM.find k (fold_left (fun m k =>
    PM.add k (t :: match PM.find k m with Some l => l | None => [] end) m) ks m) =
  if in_dec Pos.eq_dec k ks
  then Some (t :: match PM.find k m with Some l => l | None => [] end)
  else PM.find k m.
Proof.
  induction 1 as [|k' ks N D IH]; intros m k; [reflexivity|].
  cbn [fold_left]. rewrite IH.
  destruct (in_dec Pos.eq_dec k ks) as [I|I];
    destruct (in_dec Pos.eq_dec k (k' :: ks)) as [J|J].
  - rewrite PM.gso; [reflexivity|]. intros ->. contradiction.
  - exfalso. apply J. now right.
  - destruct J as [->|J]; [|contradiction]. now rewrite PM.gss.
  - rewrite PM.gso; [reflexivity|]. intros ->. apply J. now left.
Qed.

Lemma weigh_spec done st e st' : weighed_right done st ->
  weigh h f chosen (commits s0) clock_of kind st e = Some st' ->
  weighed_right (done ++ [e]) st' /\ weighs done e.
Proof.
  destruct e as [t m]. intros [C W]. unfold weigh. cbn [fst snd].
  destruct (PM.find t (digests f)) as [d|] eqn:D; [|discriminate]. destruct m.
  - destruct (PM.find t chosen) as [l|] eqn:L; [|discriminate].
    destruct (_ && _ && _) eqn:B; [|discriminate]. intros X. injection X as <-.
    rewrite !andb_true_iff in B. destruct B as [[B1 B2] B3]. split.
    + split.
      * intros u U. apply in_or_app. left. auto.
      * intros k. rewrite rev_app_distr. simpl. apply W.
    + intros _. cbn [fst]. exists d. split; [auto|]. split; [auto|]. split.
      * intros x I. unfold CommitOrders.reads_of. rewrite D, L.
        apply combine_all; [now apply PeanoNat.Nat.eqb_eq|exact I].
      * intros x s I. rewrite forallb_forall in B3. specialize (B3 _ I).
        unfold weigh_read in B3. rewrite !andb_true_iff in B3.
        destruct B3 as [[[R S] Q] V]. apply source_eqb_eq in Q.
        split; [|split; [exact S|split; [exact Q|]]].
        -- unfold right_source in R. destruct s as [w|]; [|exact R].
           apply andb_true_iff in R as [R1 R2]. split; [now apply C|].
           rewrite (state_left_right h f digests_right) in R2.
           destruct (leaves h w (of_key x)) as [y|]; [eauto|discriminate].
        -- rewrite forallb_forall in V. rewrite W in V. intros u U.
           apply negb_true_iff. now apply V.
  - intros X. apply some_inv in X. subst st'. split; [|intros ?; discriminate].
    split; cbn [committed_so_far].
    + intros u U. apply add_mem in U as [->|U]; apply in_or_app;
        [right; now left|left; auto].
    + intros k. rewrite rev_app_distr. cbn [rev app writers_until].
      unfold writers_at. cbn [writers_so_far].
      assert (NoDup (map fst (PM.elements (left d)))) as ND.
      { pose proof (PM.elements_3w (left d)) as Z. induction Z as [|[k' y] l N Z IH].
        - constructor.
        - simpl. constructor; [|exact IH]. intros I. apply N.
          apply in_map_iff in I as [[k'' y'] [Q I]]. simpl in Q. subst.
          apply SetoidList.InA_alt. exists (k', y'). split; [reflexivity|exact I]. }
      rewrite (push_writers t _ ND).
      assert (In k (map fst (PM.elements (left d))) <-> leaves h t k <> None) as L.
      { rewrite <- (state_left_right h f digests_right). unfold state_left.
        rewrite D, in_map_iff. split.
        - intros [[k' y] [<- I]]. apply elements_iff in I. cbn [fst]. now rewrite I.
        - destruct (PM.find k (left d)) as [y|] eqn:Y; [|congruence]. intros _.
          exists (k, y). split; [auto|]. now apply elements_iff. }
      destruct (in_dec Pos.eq_dec k _) as [I|I].
      * apply L in I. destruct (leaves h t k); [|congruence]. f_equal. apply W.
      * destruct (leaves h t k) eqn:Y; [|apply W]. exfalso. apply I, L. congruence.
Qed.

Lemma weighs_at p e : at_place events p e -> weighs (firstn p events) e.
Proof.
  apply is_some_elim in weighed as [z R].
  refine (proj2 (run_spec _ _ _ weigh_spec _ events z _ R) p e).
  split; cbn [committed_so_far].
  - intros t T. rewrite PM.mem_find, PM.gempty in T. discriminate.
  - intros k. unfold writers_at. simpl. now rewrite PM.gempty.
Qed.

Definition chosen_reading : reading := {| took_effect := took; read_from := choice |}.

Let begin_place := took_begin h events s0 placed both.
Let commit_place := took_commit h events s0 placed.

Lemma committed_before p w : In (w, Commit) (firstn p events) ->
  forall t m, at_place events p (t, m) -> took w = true /\ lt (w, Commit) (t, m).
Proof.
  intros I t m P. apply In_nth_error in I as [q Q]. apply at_firstn in Q as [L Q].
  split; [apply commit_place; eauto|]. exists q, p. auto.
Qed.

(* Who stands nearer to the front of the events so far, the last one first, is
   the later one. *)
Lemma nearer_is_later p (d1 d2 : list event) u w : rev (firstn p events) = d1 ++ d2 ->
  In (w, Commit) d1 -> In (u, Commit) d2 ->
  took w = true /\ lt (u, Commit) (w, Commit) /\
  exists q, q < p /\ at_place events q (w, Commit).
Proof.
  intros Sp J1 J2.
  assert (firstn p events = rev d2 ++ rev d1) as R.
  { rewrite <- rev_app_distr, <- Sp. now rewrite rev_involutive. }
  apply in_rev in J1. apply in_rev in J2.
  apply In_nth_error in J1 as [n1 J1]. apply In_nth_error in J2 as [n2 J2].
  assert (at_place (firstn p events) n2 (u, Commit)) as A2.
  { rewrite R. rewrite nth_error_app1; [exact J2|]. eapply at_length; eauto. }
  assert (at_place (firstn p events) (length (rev d2) + n1) (w, Commit)) as A1.
  { rewrite R. rewrite nth_error_app2 by lia.
    replace (length (rev d2) + n1 - length (rev d2)) with n1 by lia. exact J1. }
  apply at_firstn in A1 as [L1 A1]. apply at_firstn in A2 as [L2 A2].
  apply at_length in J2. split; [apply commit_place; eauto|]. split; [|eauto].
  exists n2, (length (rev d2) + n1). split; [exact A2|]. split; [exact A1|].
  unfold event in *. lia.
Qed.

(* What is known of each read. *)
Lemma read_right t i k a : took t = true -> sees_others h t i k a ->
  exists p x, at_place events p (t, Begin) /\ place x = i /\ of_key x = k /\
    told x = a /\ In (x, choice t i k) (reads_of t) /\
    weighs (firstn p events) (t, Begin).
Proof.
  intros T S. apply begin_place in T as [p P].
  pose proof (weighs_at p _ P) as W. destruct (W eq_refl) as [d [D [_ [A B]]]].
  cbn [fst] in *. rewrite digests_right in D.
  destruct (transaction_of h t) as [b|] eqn:Tb; [|discriminate].
  apply some_inv in D. subst d.
  destruct (sees_outside h t b Tb i k a S) as [x [I [X1 [X2 X3]]]].
  destruct (A x I) as [s Z]. exists p, x. repeat split; auto.
  destruct (B x s Z) as [_ [_ [Q _]]]. rewrite X1, X2 in Q. now rewrite Q.
Qed.

Lemma weak_explains : explains h chosen_reading.
Proof.
  split; cbn [took_effect read_from chosen_reading].
  - intros t [b [T C]]. unfold all_committed in everybody.
    rewrite forallb_forall in everybody.
    apply elements_iff in T. specialize (everybody _ T). simpl in everybody.
    now rewrite C in everybody.
  - intros t T. apply commit_place in T as [q E].
    destruct (places_right h events s0 placed) as [_ R].
    destruct (R q _ E) as [_ [_ B]]. exact B.
  - intros t [k [order [i [O N]]]]. unfold stated_in_order in stated_right.
    rewrite forallb_forall in stated_right. specialize (stated_right _ O).
    simpl in stated_right. rewrite wrote_right in stated_right.
    apply names_spec in N.
    destruct (increasing_after _ _ _ stated_right _ _ N) as [p [P _]].
    unfold Satisfied.took. now rewrite PM.mem_find, P.
  - intros t i a x T S. apply begin_place in T as [p P].
    destruct (weighs_at p _ P eq_refl) as [d [D [C _]]]. cbn [fst] in D.
    rewrite digests_right in D.
    destruct (transaction_of h t) as [b|] eqn:Tb; [|discriminate].
    apply some_inv in D. subst d.
    apply (proj1 (consistent_spec h t b Tb) C i a x S).
  - intros t i k a T S.
    destruct (read_right t i k a T S) as [p [x [P [X1 [X2 [X3 [I W]]]]]]].
    destruct (W eq_refl) as [d [_ [_ [_ B]]]]. destruct (B x _ I) as [F _].
    rewrite X2, X3 in F. destruct (choice t i k) as [w|].
    + destruct F as [_ [y [L A]]]. exists y. auto.
    + eexists. split; [reflexivity|exact F].
  - intros t i k a w T S Q.
    destruct (read_right t i k a T S) as [p [x [P [X1 [X2 [X3 [I W]]]]]]].
    destruct (W eq_refl) as [d [_ [_ [_ B]]]]. destruct (B x _ I) as [F _].
    rewrite Q in F. destruct F as [F _].
    destruct (committed_before p w F t Begin P) as [Tw L]. split; [exact Tw|].
    intros ->. apply (lt_irreflexive h events s0 placed (t, Commit)).
    eapply lt_transitive; eauto. now apply (begin_before_commit h events s0).
  - intros t i w k a T S1 S2.
    pose proof S2 as S3. destruct S3 as [b [o [Tb _]]].
    destruct (stated_outside h t b Tb i k a w S1 S2) as [x [X [X1 [X2 X3]]]].
    destruct (proj1 (begin_place t) T) as [p P].
    destruct (weighs_at p _ P eq_refl) as [d [D [_ [A B]]]]. cbn [fst] in *.
    rewrite digests_right, Tb in D. apply some_inv in D. subst d.
    destruct (A x X) as [s Z]. destruct (B x s Z) as [_ [Y [Q _]]].
    rewrite X1, X2 in Q. rewrite Q. unfold statement_allows in Y.
    rewrite X3 in Y. apply source_eqb_eq in Y. auto.
Qed.

Definition the_co (s t : txn) : Prop :=
  took s = true /\ took t = true /\ lt (s, Commit) (t, Commit).

Lemma sr_forward s t : session_or_read h chosen_reading s t ->
  took s = true /\ took t = true /\ lt (s, Commit) (t, Begin).
Proof.
  intros [D|[i [k [T [[a S] Q]]]]].
  - split; [apply D|]. split; [apply D|].
    eapply (sessions_forward h events s0); eauto.
  - cbn [took_effect read_from chosen_reading] in *.
    destruct (read_right t i k a T S) as [p [x [P [_ [_ [_ [I W]]]]]]].
    destruct (W eq_refl) as [d [_ [_ [_ B]]]]. destruct (B x _ I) as [F _].
    rewrite Q in F. destruct F as [F _].
    destruct (committed_before p s F t Begin P). auto.
Qed.

Lemma sr_co s t : session_or_read h chosen_reading s t -> the_co s t.
Proof.
  intros D. destruct (sr_forward s t D) as [S [T L]]. split; [auto|].
  split; [auto|]. eapply lt_transitive; eauto.
  now apply (begin_before_commit h events s0).
Qed.

Lemma weak_order : commit_order h chosen_reading the_co.
Proof.
  split.
  - intros s [_ [_ L]]. now apply (lt_irreflexive h events s0 placed) in L.
  - intros s t u [S [_ L]] [_ [U N]]. split; [auto|]. split; [auto|].
    eapply lt_transitive; eauto.
  - intros s t S T N. cbn [took_effect chosen_reading] in *. unfold the_co.
    destruct (commits_ordered h events s0 placed s t S T N); auto.
  - intros s t D. apply sr_co. now left.
  - intros s t D. apply sr_co. now right.
  - intros k s t D. pose proof stated_right as Z. rewrite wrote_right in Z.
    destruct (stated_forward h events s0 placed Z k s t D) as [L _].
    pose proof L as L'. destruct L' as [p [q [P [Q _]]]].
    split; [apply commit_place; eauto|]. split; [apply commit_place; eauto|exact L].
Qed.

(* The axiom, if nothing that is visible was overlooked. *)
Lemma weak_axiom (visible : txn -> txn -> nat -> Prop) :
  (forall t x u, took t = true -> visible u t (place x) ->
    (exists s, In (x, s) (reads_of t)) ->
    is_visible t x u = true /\ lt (u, Commit) (t, Begin)) ->
  axiom h chosen_reading the_co visible.
Proof.
  intros V t1 t2 t3 i k [T [[a S] Q]] [T2 W2] N X.
  cbn [took_effect read_from chosen_reading] in *.
  destruct (read_right t3 i k a T S) as [p [x [P [X1 [X2 [X3 [I W]]]]]]].
  destruct (W eq_refl) as [d [_ [_ [_ B]]]]. destruct (B x _ I) as [F [_ [_ H]]].
  cbn [fst] in H.
  destruct (V t3 x t2 T) as [V1 V2]; [now rewrite X1|eauto|].
  destruct V2 as [q [p' [Q2 [P' L]]]].
  pose proof (place_unique h events s0 placed _ _ _ P P') as <-.
  assert (In (t2, Commit) (rev (firstn p events))) as D.
  { apply in_rev. rewrite rev_involutive. eapply nth_error_In, at_firstn. eauto. }
  destruct (since_or_later _ t2 k (choice t3 i k) D W2) as [J|[w [E J]]].
  - rewrite X2 in H. rewrite (H t2 J) in V1. discriminate.
  - rewrite Q in E. subst t1. exists w. split; [auto|].
    destruct J as [->|[d1 [d2 [Sp [J1 J2]]]]]; [congruence|].
    destruct (nearer_is_later p d1 d2 t2 w Sp J1 J2) as [Tw [Lw _]].
    split; [auto|]. split; auto.
Qed.

(* Reads of a transaction are in its list. *)
Lemma read_listed t j y s : reads_from h chosen_reading t j y s ->
  exists x, In (x, s) (reads_of t) /\ place x = j.
Proof.
  intros [T [[a S] Q]]. cbn [took_effect read_from chosen_reading] in *.
  destruct (read_right t j y a T S) as [p [x [_ [X1 [_ [_ [I _]]]]]]].
  rewrite Q in I. eauto.
Qed.

Lemma earlier_read_visible : kind = ByEarlierRead ->
  axiom h chosen_reading the_co (read_earlier h chosen_reading).
Proof.
  intros K. apply weak_axiom. intros t x u T [j [y [L R]]] _. split.
  - unfold CommitOrders.is_visible. rewrite K. apply existsb_exists.
    destruct (read_listed t j y _ R) as [z [I Z]]. exists (z, Some u).
    split; [exact I|]. cbn [fst snd]. apply andb_true_iff.
    split; [apply PeanoNat.Nat.ltb_lt; lia|now apply source_eqb_eq].
  - apply sr_forward. right. exists j, y. exact R.
Qed.

Lemma step_visible : kind = ByStep ->
  axiom h chosen_reading the_co
    (fun t2 t3 _ => session_or_read h chosen_reading t2 t3).
Proof.
  intros K. apply weak_axiom. intros t x u T D _.
  split; [|now apply sr_forward]. unfold CommitOrders.is_visible. rewrite K.
  destruct D as [[_ [_ [a [b [A [B [S [C L]]]]]]]]|[j [y R]]].
  - apply orb_true_iff. left. unfold earlier_in_session. rewrite A, B.
    rewrite !andb_true_iff. split; [split|].
    + now apply Pos.eqb_eq.
    + unfold is_committed. now rewrite C.
    + now apply Pos.ltb_lt.
  - apply orb_true_iff. right. apply existsb_exists.
    destruct (read_listed t j y _ R) as [z [I _]]. exists (z, Some u).
    split; [exact I|]. now apply source_eqb_eq.
Qed.

(* --- causality *)

Section Clocks.
Hypothesis told_right :
  is_some (run (tell h f chosen (commits s0) clock_of) (PM.empty _) events) = true.

Notation dominates := (dominates h (commits s0) clock_of).
Notation entry := (entry clock_of).
Notation number := (number (commits s0)).

Fixpoint committed_until (done : list event) (c : positive) : list txn :=
  match done with   (* the last event first *)
  | [] => []
  | (t, Commit) :: rest =>
      match transaction_of h t with
      | Some b => if is_committed b && Pos.eqb (session b) c
                  then t :: committed_until rest c else committed_until rest c
      | None => committed_until rest c
      end
  | _ :: rest => committed_until rest c
  end.

Lemma committed_until_in done c l : In l (committed_until done c) ->
  In (l, Commit) done /\ exists b, transaction_of h l = Some b /\
    status b = Committed /\ session b = c.
Proof.
  induction done as [|[t [|]] done IH]; simpl; [intros []| |].
  - intros I. destruct (IH I) as [J K]. auto.
  - destruct (transaction_of h t) as [b|] eqn:T.
    + destruct (is_committed b && Pos.eqb (session b) c) eqn:B.
      * intros [->|I].
        -- split; [auto|]. exists b. apply andb_true_iff in B as [B1 B2].
           apply Pos.eqb_eq in B2. unfold is_committed in B1.
           now destruct (status b).
        -- destruct (IH I) as [J K]. auto.
      * intros I. destruct (IH I) as [J K]. auto.
    + intros I. destruct (IH I) as [J K]. auto.
Qed.

(* The last one before [t] in the session, and anyone else before that. *)
Lemma last_before done c s t b : In (s, Commit) done ->
  transaction_of h s = Some b -> status b = Committed -> session b = c ->
  (s < t)%positive ->
  exists l, find (fun u => Pos.ltb u t) (committed_until done c) = Some l /\
    (l = s \/ exists d1 d2, done = d1 ++ d2 /\ In (l, Commit) d1 /\
      In (s, Commit) d2).
Proof.
  intros I B C S L. induction done as [|[u m] done IH]; [destruct I|].
  destruct I as [I|I].
  - injection I as -> ->. simpl. rewrite B. unfold is_committed.
    rewrite C, S, Pos.eqb_refl. simpl. apply Pos.ltb_lt in L. rewrite L. eauto.
  - assert (find (fun u => Pos.ltb u t) (committed_until ((u, m) :: done) c) =
        find (fun u => Pos.ltb u t) (committed_until done c) \/
      (m = Commit /\
       find (fun u => Pos.ltb u t) (committed_until ((u, m) :: done) c) = Some u))
      as [-> | [-> ->]].
    { simpl. destruct m; [auto|]. destruct (transaction_of h u) as [a|]; [|auto].
      destruct (is_committed a && Pos.eqb (session a) c); [|auto]. simpl.
      destruct (Pos.ltb u t); auto. }
    + destruct (IH I) as [l [F [->|[d1 [d2 [-> [J K]]]]]]]; [eauto|].
      exists l. split; [exact F|]. right. exists ((u, m) :: d1), d2.
      split; [auto|]. split; [now right|auto].
    + exists u. split; [auto|]. right. exists [(u, Commit)], done.
      split; [auto|]. split; [now left|auto].
Qed.

Definition lists_sessions (done : list event) (last : PM.t (list txn)) : Prop :=
  forall c, in_session last c = committed_until (rev done) c.

Definition tells (done : list event) (e : event) : Prop :=
  snd e = Begin ->
  (forall x s, In (x, Some s) (reads_of (fst e)) -> dominates s (fst e) = true) /\
  forall b l, transaction_of h (fst e) = Some b ->
    find (fun u => Pos.ltb u (fst e)) (committed_until (rev done) (session b))
      = Some l ->
    dominates l (fst e) = true.

Lemma tell_spec done last e last' : lists_sessions done last ->
  tell h f chosen (commits s0) clock_of last e = Some last' ->
  lists_sessions (done ++ [e]) last' /\ tells done e.
Proof.
  destruct e as [t m]. intros H. unfold tell. cbn [fst snd].
  destruct (transaction_of h t) as [b|] eqn:T; [|discriminate]. destruct m.
  - destruct (_ && _) eqn:B; [|discriminate]. intros X. injection X as <-.
    apply andb_true_iff in B as [B1 B2]. split.
    + intros c. rewrite rev_app_distr. simpl. apply H.
    + intros _. cbn [fst]. split.
      * intros x s I. rewrite forallb_forall in B1. exact (B1 _ I).
      * intros b' l B' F. rewrite T in B'. injection B' as <-.
        rewrite H, F in B2. exact B2.
  - intros X. injection X as <-. split; [|intros ?; discriminate].
    intros c. rewrite rev_app_distr. simpl. rewrite T.
    destruct (is_committed b); cbn [andb]; [|apply H].
    unfold in_session at 1. destruct (Pos.eqb_spec (session b) c) as [<-|N].
    + rewrite PM.gss. f_equal. apply H.
    + rewrite PM.gso by congruence. apply H.
Qed.

Lemma tells_at p e : at_place events p e -> tells (firstn p events) e.
Proof.
  apply is_some_elim in told_right as [z R].
  refine (proj2 (run_spec _ _ _ tell_spec _ events z _ R) p e).
  intros c. unfold in_session. now rewrite PM.gempty.
Qed.

Definition bounds (s t : txn) : Prop :=
  (number s <= entry t (thread h s))%positive /\
  forall th, (entry s th <= entry t th)%positive.

Lemma dominates_bounds s t : dominates s t = true -> bounds s t.
Proof.
  unfold CommitOrders.dominates, bounds. rewrite andb_true_iff. intros [N C].
  split; [now apply Pos.leb_le|]. intros th. unfold CommitOrders.entry at 1.
  destruct (PM.find s clock_of) as [c|]; [|apply Pos.le_1_l].
  destruct (PM.find th c) as [p|] eqn:P; [|apply Pos.le_1_l].
  rewrite forallb_forall in C. apply elements_iff in P. specialize (C _ P).
  now apply Pos.leb_le.
Qed.

Lemma bounds_transitive s t u : bounds s t -> bounds t u -> bounds s u.
Proof.
  intros [A B] [C D]. split.
  - eapply Pos.le_trans; [exact A|apply D].
  - intros th. eapply Pos.le_trans; [apply B|apply D].
Qed.

Lemma sr_bounds : forall p t, at_place events p (t, Begin) ->
  forall s, session_or_read h chosen_reading s t -> bounds s t.
Proof.
  induction p as [p IH] using lt_wf_ind. intros t P s D.
  destruct (tells_at p _ P eq_refl) as [R S]. cbn [fst] in *.
  destruct D as [D|[i [k X]]].
  - pose proof (sr_forward s t (or_introl D)) as [Ts [Tt [q [p' [Q [P' L]]]]]].
    pose proof (place_unique h events s0 placed _ _ _ P P') as <-.
    destruct D as [_ [_ [a [b [A [B [Se [C Lt]]]]]]]].
    assert (In (s, Commit) (rev (firstn p events))) as I.
    { apply in_rev. rewrite rev_involutive. eapply nth_error_In, at_firstn. eauto. }
    destruct (last_before _ (session b) s t a I A C Se Lt) as [l [F Lo]].
    pose proof (dominates_bounds l t (S b l B F)) as Ld.
    apply find_some in F as [Fl _].
    apply committed_until_in in Fl as [_ [c [Lc [Lk Ls]]]].
    destruct Lo as [->|[d1 [d2 [Sp [J1 J2]]]]]; [exact Ld|].
    destruct (nearer_is_later p d1 d2 s l Sp J1 J2)
      as [Tl [[q1 [q2 [Q1 [Q2 L2]]]] [q3 [L3 Q3]]]].
    pose proof (place_unique h events s0 placed _ _ _ Q2 Q3) as <-.
    assert (s <> l) as N by (intros ->; pose proof
      (place_unique h events s0 placed _ _ _ Q1 Q2); lia).
    assert (session_before h s l) as SB.
    { exists a, c. repeat split; auto; [congruence|].
      destruct (Pos.lt_total s l) as [X|[X|X]]; [exact X|contradiction|exfalso].
      assert (session_order h chosen_reading l s) as Y.
      { split; [exact Tl|]. split; [exact Ts|]. exists c, a. repeat split; auto.
        congruence. }
      destruct (sr_co l s (or_introl Y)) as [_ [_ [n1 [n2 [N1 [N2 N3]]]]]].
      pose proof (place_unique h events s0 placed _ _ _ Q1 N2).
      pose proof (place_unique h events s0 placed _ _ _ Q2 N1). lia. }
    assert (session_order h chosen_reading s l) as SO by (split; auto).
    destruct (begin_before_commit h events s0 placed l Tl)
      as [r1 [r2 [R1 [R2 R3]]]].
    pose proof (place_unique h events s0 placed _ _ _ Q2 R2) as <-.
    apply (bounds_transitive s l t); [|exact Ld].
    apply (IH r1); [lia|exact R1|now left].
  - destruct (read_listed t i k _ X) as [x [I _]].
    apply dominates_bounds. eauto.
Qed.

Lemma path_bounds s t : clos_trans txn (session_or_read h chosen_reading) s t ->
  bounds s t /\ lt (s, Commit) (t, Begin).
Proof.
  induction 1 as [s t D|s t u X IH1 Y IH2].
  - destruct (sr_forward s t D) as [_ [T L]]. split; [|exact L].
    apply begin_place in T as [p P]. eapply sr_bounds; eauto.
  - destruct IH1 as [B1 L1], IH2 as [B2 L2]. split.
    + eapply bounds_transitive; eauto.
    + eapply lt_transitive; eauto. eapply lt_transitive; eauto.
      apply (begin_before_commit h events s0); auto.
      destruct L2 as [p [_ [P _]]]. apply commit_place. eauto.
Qed.

Lemma path_visible : kind = ByPath ->
  axiom h chosen_reading the_co (fun t2 t3 _ =>
    clos_trans txn (session_or_read h chosen_reading) t2 t3).
Proof.
  intros K. apply weak_axiom. intros t x u T D _.
  destruct (path_bounds u t D) as [[B _] L]. split; [|exact L].
  unfold CommitOrders.is_visible. rewrite K. now apply Pos.leb_le.
Qed.
End Clocks.
End Sound.
