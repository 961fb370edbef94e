(* A history violates a level if every choice of what it leaves open closes a
   cycle. The certificate is a list of clauses, each with its reason; the last
   one is empty. This checker believes a clause if

     a cycle of edges refutes the assumptions that its edges make together,
     a stated order puts the one version before the other,
     it lists everybody whose write an operation may have seen,
     it says that what was read took effect,
     more transactions overwrote what they had read than there was to read, or
     it follows from earlier clauses by unit propagation. *)
From Coq Require Import PArith ZArith List Bool FMapPositive Relations Lia.
From Proof Require Import History Levels Digest Index Replay Model Literals Sources.
Import ListNotations.

(* One step of a path that shows what a transaction saw. *)
Inductive hop :=
  | HopRead (s t : txn) (k : key) (i : option nat)
  | HopSession (s t : txn).

Inductive edge_claim :=
  | Reads (s t : txn) (k : key) (i : option nat)
  | InSession (s t : txn)
  | InTime (s : txn) (m : moment) (t : txn) (n : moment)
  | Overwrites (a b : txn) (k : key)
  | Misses (s t : txn) (k : key) (v : source) (i : option nat)
  | Forced (a b t : txn) (k : key) (i : option nat) (path : list hop).

Inductive step :=
  | Cycle (edges : list edge_claim) (given : list literal)
  | Unseen (a t : txn) (k : key) (i : option nat) (path : list hop)
      (given : list literal)
  | Fact (a b : txn) (line : nat)
  | Explains (t : txn) (i : nat) (k : key) (clause : list literal)
  | TookEffect (t : txn) (k : key) (s : txn) (i : option nat)
      (clause : list literal)
  | Inconsistent (t : txn) (clause : list literal)
  | Overdrawn (k : key) (readers : list (txn * nat))
  | Derived (clause : list literal) (hints : list positive).

Section Check.
Variable h : history.
Variable f : facts.
Variable lv : strength.
Variable sure_ones : PM.t unit.

(* --- what a cycle is given *)

Definition given_some (given : list literal) (l : literal) : bool :=
  existsb (literal_eqb l) given.

Definition counts (given : list literal) (t : txn) : bool :=
  PM.mem t sure_ones || given_some given (Effect t true).

Definition find_seen (t : txn) (i : nat) (k : key) : option seen :=
  match PM.find t (digests f) with
  | None => None
  | Some d => find (fun x => Nat.eqb (place x) i && Pos.eqb (of_key x) k) (outside d)
  end.

(* Operation [i] of [t], which took effect, saw what [s] left of [k]. *)
Definition certainly_reads (t : txn) (i : nat) (k : key) (s : source) : bool :=
  match find_seen t i k with
  | None => false
  | Some x => forallb (fun w => source_eqb w s) (sources_of h f t x)
  end.

Definition reads_at (given : list literal) (t : txn) (i : nat) (k : key)
    (s : source) : bool :=
  given_some given (Seen t k s (Some i) true) || certainly_reads t i k s.

Definition reads_any (given : list literal) (t : txn) (i : option nat) (k : key)
    (s : source) : bool :=
  given_some given (Seen t k s None true) ||
  match i with Some i => reads_at given t i k s | None => false end.

Definition is_writer (t : txn) (k : key) : bool :=
  match state_left f t k with Some _ => true | None => false end.

Definition is_session (s t : txn) : bool :=
  has_sessions lv &&
  match transaction_of h s, transaction_of h t with
  | Some a, Some b => Pos.eqb (session a) (session b) && is_committed a &&
      Pos.ltb s t
  | _, _ => false
  end.

Definition is_before (s : txn) (m : moment) (t : txn) (n : moment) : bool :=
  existsb (fun mn => moment_eqb (fst mn) m && moment_eqb (snd mn) n) (clocks lv) &&
  match transaction_of h s, transaction_of h t with
  | Some a, Some b =>
      apart (response (when a m)) (request (when b n))
        (if Pos.eqb (session a) (session b) then 0 else drift h)
  | _, _ => false
  end.

Definition different (s t : txn) : bool := negb (Pos.eqb s t).

(* --- paths *)

Definition hop_from (p : hop) : txn :=
  match p with HopRead s _ _ _ | HopSession s _ => s end.
Definition hop_to (p : hop) : txn :=
  match p with HopRead _ t _ _ | HopSession _ t => t end.

Definition hop_right (given : list literal) (p : hop) : bool :=
  counts given (hop_from p) && counts given (hop_to p) &&
  match p with
  | HopRead s t k i => reads_any given t i k (Some s)
  | HopSession s t => is_session s t
  end.

Fixpoint path_leads (given : list literal) (s t : txn) (path : list hop) : bool :=
  match path with
  | [] => false
  | [p] => hop_right given p && Pos.eqb (hop_from p) s && Pos.eqb (hop_to p) t
  | p :: rest => hop_right given p && Pos.eqb (hop_from p) s &&
      path_leads given (hop_to p) t rest
  end.

(* The path shows that [t] saw [s], by its operation [i] where that matters. *)
Definition shows_seen (given : list literal) (s t : txn) (i : option nat)
    (path : list hop) : bool :=
  path_leads given s t path &&
  match shown lv with
  | ByPath => true
  | ByStep => Nat.eqb (length path) 1
  | ByEarlierRead =>
      match path, i with
      | [HopRead s t k (Some j)], Some i =>
          Nat.ltb j i && reads_at given t j k (Some s)
      | _, _ => false
      end
  end.

Definition reads_shown (given : list literal) (t : txn) (i : option nat) (k : key)
    (s : source) : bool :=
  match shown lv, i with
  | ByEarlierRead, Some i => reads_at given t i k s
  | ByEarlierRead, None => false
  | _, _ => reads_any given t i k s
  end.

(* --- edges *)

Definition from_to (e : edge_claim) : event * event :=
  match e with
  | Reads s t _ _ | InSession s t => ((s, Commit), (t, Begin))
  | InTime s m t n => ((s, m), (t, n))
  | Overwrites a b _ | Forced a b _ _ _ _ => ((a, Commit), overwriter lv b)
  | Misses s t _ _ _ => ((s, Begin), (t, Commit))
  end.

Definition leaves_at (e : edge_claim) : event := node lv (fst (from_to e)).
Definition arrives_at (e : edge_claim) : event := node lv (snd (from_to e)).

Definition edge_right (given : list literal) (e : edge_claim) : bool :=
  let s := fst (fst (from_to e)) in
  let t := fst (snd (from_to e)) in
  counts given s && counts given t && different s t &&
  match e with
  | Reads s t k i => reads_any given t i k (Some s)
  | InSession s t => is_session s t
  | InTime s m t n => is_before s m t n
  | Overwrites a b k => is_writer a k && is_writer b k
  | Misses s t k v i =>
      versions lv && is_writer t k && negb (source_eqb v (Some t)) &&
      reads_any given s i k v
  | Forced a b t k i path =>
      counts given t && different a t && is_writer a k &&
      reads_shown given t i k (Some b) && shows_seen given a t i path
  end.

Definition assumed (e : edge_claim) : list literal :=
  match e with
  | Overwrites a b _ => [Order a b]
  | Misses _ t _ (Some w) _ => [Order w t]
  | _ => []
  end.

(* The edge begins where the last one arrived, or a transaction that was entered
   at its begin is left at its commit. *)
Definition goes_on_from (at_ : event) (next : event) : bool :=
  event_eqb at_ next ||
  (negb (one_event_each lv) &&
   match at_, next with
   | (s, Begin), (t, Commit) => Pos.eqb s t
   | _, _ => false
   end).

Fixpoint linked (given : list literal) (at_ : event) (edges : list edge_claim)
    (first : event) : bool :=
  match edges with
  | [] => goes_on_from at_ first
  | e :: rest => edge_right given e && goes_on_from at_ (leaves_at e) &&
      linked given (arrives_at e) rest first
  end.

Definition closes (given : list literal) (edges : list edge_claim) : bool :=
  match edges with
  | [] => false
  | e :: rest => edge_right given e &&
      linked given (arrives_at e) rest (leaves_at e)
  end.

Definition may_be_given (l : literal) : bool :=
  match l with Seen _ _ _ _ b | Effect _ b => b | Order _ _ => false end.

(* --- clauses *)

Fixpoint is_named_before (names : list (option txn)) (a b : txn) (seen_a : bool) :
    bool :=
  match names with
  | [] => false
  | None :: rest => is_named_before rest a b seen_a
  | Some t :: rest =>
      (seen_a && Pos.eqb t b) || is_named_before rest a b (seen_a || Pos.eqb t a)
  end.

Definition states (line : nat) (a b : txn) : bool :=
  different a b &&
  match nth_error (stated_orders h) line with
  | None => false
  | Some (k, order) =>
      is_named_before (names_from h (wrote_what f) k true order) a b false
  end.

(* Where a transaction sees one state of each key, a source has to explain all
   that it saw of the key. *)
Definition fitting_sources (t : txn) (d : digest) (x : seen) : list source :=
  let l := sources_of h f t x in
  match shown lv with
  | ByEarlierRead => l
  | _ => filter (fun s => forallb (fun y =>
      negb (Pos.eqb (of_key y) (of_key x)) || may_be (sources_of h f t y) s)
      (outside d)) l
  end.

Definition lists_sources (t : txn) (i : nat) (k : key) (clause : list literal) :
    bool :=
  match PM.find t (digests f), find_seen t i k with
  | Some d, Some x =>
      forallb (fun s => existsb (fun l =>
          literal_eqb l (Seen t k s (Some i) true) ||
          literal_eqb l (Seen t k s None true)) clause)
        (fitting_sources t d x) &&
      (PM.mem t sure_ones || existsb (literal_eqb (Effect t false)) clause)
  | _, _ => false
  end.

(* Where no update is lost, two that overwrite a key read different versions of
   it. These are too many for what they may have read. *)
Fixpoint distinct (l : list txn) : bool :=
  match l with
  | [] => true
  | t :: rest => forallb (different t) rest && distinct rest
  end.

Definition overwrites (k : key) (ti : txn * nat) : bool :=
  PM.mem (fst ti) sure_ones && is_writer (fst ti) k &&
  match find_seen (fst ti) (snd ti) k with Some _ => true | None => false end.

Definition sources_at (k : key) (ti : txn * nat) : list source :=
  match find_seen (fst ti) (snd ti) k with
  | Some x => sources_of h f (fst ti) x
  | None => []
  end.

Definition source_dec (s t : source) : {s = t} + {s <> t}.
Proof. decide equality. apply Pos.eq_dec. Defined.

Definition overdrawn (k : key) (readers : list (txn * nat)) : bool :=
  versions lv && writes_at_begin lv && distinct (map fst readers) &&
  forallb (overwrites k) readers &&
  Nat.ltb (length (nodup source_dec (flat_map (sources_at k) readers)))
    (length readers).

(* The clause that a step adds, if it is right. *)
Definition adds (db : clauses) (s : step) : option (list literal) :=
  match s with
  | Cycle edges given =>
      if forallb may_be_given given && closes given edges
      then Some (map neg (flat_map assumed edges ++ given)) else None
  | Unseen a t k i path given =>
      if forallb may_be_given given && counts given a && counts given t &&
         different a t && is_writer a k &&
         reads_shown given t i k None && shows_seen given a t i path
      then Some (map neg given) else None
  | Fact a b line => if states line a b then Some [Order a b] else None
  | Explains t i k clause =>
      if lists_sources t i k clause then Some clause else None
  | TookEffect t k s i clause =>
      if existsb (literal_eqb (Seen t k (Some s) i false)) clause &&
         existsb (literal_eqb (Effect s true)) clause
      then Some clause else None
  | Inconsistent t clause =>
      match PM.find t (digests f) with
      | Some d =>
          if (PM.mem t sure_ones || existsb (literal_eqb (Effect t false)) clause)
             && negb (consistent d)
          then Some clause else None
      | None => None
      end
  | Overdrawn k readers => if overdrawn k readers then Some [] else None
  | Derived clause hints => if follows db clause hints then Some clause else None
  end.

Fixpoint refutes (db : clauses) (n : positive) (steps : list step) : bool :=
  match steps with
  | [] => false
  | s :: rest =>
      match adds db s with
      | None => false
      | Some [] => match rest with [] => true | _ => refutes (PM.add n [] db)
          (Pos.succ n) rest end
      | Some c => refutes (PM.add n c db) (Pos.succ n) rest
      end
  end.
End Check.

Section Sound.
Variables (h : history) (f : facts) (lv : strength) (sure_ones : PM.t unit).
Variables (r : reading) (edge : event -> event -> Prop) (ord : txn -> txn -> Prop).
Hypothesis M : model h lv r edge ord.
Hypothesis digests_right : forall t, PM.find t (digests f) =
  option_map (digest_of (known_keys h)) (transaction_of h t).
Hypothesis wrote_right : wrote_what f = authors h.
Hypothesis left_right : left_what f =
  index_of _ (left_entries (digests f) false) (PM.elements (transactions h)).
Hypothesis keys_right : left_key f =
  index_of _ (left_entries (digests f) true) (PM.elements (transactions h)).
Hypothesis sure_right : sure r sure_ones.

Let E : explains h r := m_explains h lv r edge ord M.
Notation holds_true := (holds_true h r ord).
Notation clause_holds := (clause_holds h r ord).

Section Given.
Variable given : list literal.
Hypothesis given_holds : forall l, In l given -> holds_true l.

Lemma given_some_holds l : given_some given l = true -> holds_true l.
Proof.
  unfold given_some. rewrite existsb_exists. intros [m [I Q]].
  apply literal_eqb_eq in Q. subst. auto.
Qed.

Lemma counts_took t : counts sure_ones given t = true -> took_effect r t = true.
Proof.
  unfold counts. rewrite orb_true_iff. intros [C|C].
  - now apply sure_right.
  - now apply given_some_holds in C.
Qed.

Lemma find_seen_spec t i k x : find_seen f t i k = Some x ->
  exists b, transaction_of h t = Some b /\
    In x (outside (digest_of (known_keys h) b)) /\ place x = i /\ of_key x = k.
Proof.
  unfold find_seen. rewrite digests_right.
  destruct (transaction_of h t) as [b|]; [|discriminate]. cbn [option_map].
  intros F. apply find_some in F as [I F]. apply andb_true_iff in F as [F1 F2].
  exists b. split; [auto|]. split; [auto|].
  split; [now apply PeanoNat.Nat.eqb_eq|now apply Pos.eqb_eq].
Qed.

Lemma certainly_reads_right t i k s : certainly_reads h f t i k s = true ->
  took_effect r t = true -> reads_from h r t i k s.
Proof.
  unfold certainly_reads. destruct (find_seen f t i k) as [x|] eqn:F; [|discriminate].
  apply find_seen_spec in F as [b [T [I [<- <-]]]]. intros A Took.
  split; [auto|]. split.
  - exists (told x). now apply (outside_sees h t b).
  - rewrite forallb_forall in A. apply source_eqb_eq, A.
    eapply sources_complete; eauto.
Qed.

Lemma reads_at_right t i k s : reads_at h f given t i k s = true ->
  took_effect r t = true -> reads_from h r t i k s.
Proof.
  unfold reads_at. rewrite orb_true_iff. intros [A|A] T.
  - now apply given_some_holds in A.
  - now apply certainly_reads_right.
Qed.

Lemma reads_any_right t i k s : reads_any h f given t i k s = true ->
  took_effect r t = true -> exists j, reads_from h r t j k s.
Proof.
  unfold reads_any. rewrite orb_true_iff. intros [A|A] T.
  - apply given_some_holds in A. exact A.
  - destruct i as [i|]; [|discriminate]. exists i. now apply reads_at_right.
Qed.

Lemma is_writer_right t k : is_writer f t k = true -> took_effect r t = true ->
  writer h r t k.
Proof.
  unfold is_writer. rewrite (state_left_right h f digests_right).
  intros W T. split; [auto|]. unfold writes.
  destruct (leaves h t k) as [s|]; [eauto|discriminate].
Qed.

Lemma is_session_right s t : is_session h lv s t = true ->
  took_effect r s = true -> took_effect r t = true ->
  has_sessions lv = true /\ session_order h r s t.
Proof.
  unfold is_session. rewrite andb_true_iff. intros [L S] T1 T2.
  destruct (transaction_of h s) as [a|] eqn:A; [|discriminate].
  destruct (transaction_of h t) as [b|] eqn:B; [|discriminate].
  rewrite !andb_true_iff in S. destruct S as [[S1 S2] S3].
  split; [auto|]. split; [auto|]. split; [auto|]. exists a, b.
  split; [auto|]. split; [auto|]. split; [now apply Pos.eqb_eq|].
  split; [|now apply Pos.ltb_lt]. unfold is_committed in S2.
  now destruct (status a).
Qed.

Lemma moment_eqb_eq m n : moment_eqb m n = true -> m = n.
Proof. destruct m, n; (auto || discriminate). Qed.

Lemma is_before_right s m t n : is_before h lv s m t n = true -> s <> t ->
  took_effect r s = true -> took_effect r t = true ->
  In (m, n) (clocks lv) /\ real_time h r s m t n.
Proof.
  unfold is_before. rewrite andb_true_iff. intros [L C] N T1 T2. split.
  - apply existsb_exists in L as [[m' n'] [I L]]. apply andb_true_iff in L as [L1 L2].
    apply moment_eqb_eq in L1, L2. cbn [fst snd] in *. now subst.
  - split; [auto|]. split; [auto|]. split; [auto|].
    destruct (transaction_of h s) as [a|] eqn:A; [|discriminate].
    destruct (transaction_of h t) as [b|] eqn:B; [|discriminate].
    unfold apart in C.
    destruct (response (when a m)) as [x|] eqn:X; [|discriminate].
    destruct (request (when b n)) as [y|] eqn:Y; [|discriminate].
    apply andb_true_iff in C as [C1 C2]. apply Z.ltb_lt in C1. apply Z.leb_le in C2.
    exists a, b, x, y. repeat split; auto.
    destruct (Pos.eqb_spec (session a) (session b)); auto.
Qed.

Lemma different_spec s t : different s t = true -> s <> t.
Proof.
  unfold different. intros D. apply negb_true_iff in D. now apply Pos.eqb_neq.
Qed.

(* --- paths *)

Lemma hop_right_steps p : hop_right h f lv sure_ones given p = true ->
  steps_to h r lv (hop_from p) (hop_to p).
Proof.
  unfold hop_right. rewrite !andb_true_iff. intros [[C1 C2] H].
  apply counts_took in C1, C2. destruct p as [s t k i|s t]; cbn [hop_from hop_to] in *.
  - left. destruct (reads_any_right _ _ _ _ H C2) as [j R]. exists j, k. exact R.
  - right. now apply is_session_right.
Qed.

Lemma path_leads_steps path : forall s t,
  path_leads h f lv sure_ones given s t path = true ->
  clos_trans txn (steps_to h r lv) s t.
Proof.
  induction path as [|p path IH]; intros s t; [discriminate|].
  destruct path as [|q path].
  - cbn [path_leads]. rewrite !andb_true_iff. intros [[H A] B].
    apply Pos.eqb_eq in A, B. subst. apply t_step. now apply hop_right_steps.
  - change (path_leads h f lv sure_ones given s t (p :: q :: path)) with
      (hop_right h f lv sure_ones given p && Pos.eqb (hop_from p) s &&
       path_leads h f lv sure_ones given (hop_to p) t (q :: path)).
    rewrite !andb_true_iff. intros [[H A] B]. apply Pos.eqb_eq in A. subst.
    eapply t_trans; [apply t_step, hop_right_steps, H|apply IH, B].
Qed.

(* The path shows it for the operation that is named, or for any that sees
   the same where one path does for all. *)
Lemma shows_seen_right s t i j path :
  shows_seen h f lv sure_ones given s t i path = true ->
  (shown lv = ByEarlierRead -> i = Some j) -> saw h r lv s t j.
Proof.
  unfold shows_seen, saw. rewrite andb_true_iff. intros [P H] J.
  pose proof (path_leads_steps _ _ _ P) as C.
  destruct (shown lv) eqn:L; [exact C| |].
  - destruct path as [|p [|q path]]; try discriminate. cbn [path_leads] in P.
    rewrite !andb_true_iff in P. destruct P as [[P A] B].
    apply Pos.eqb_eq in A, B. subst. now apply hop_right_steps.
  - rewrite (J eq_refl) in H.
    destruct path as [|[a b k [n|]|a b] [|q path]]; try discriminate.
    cbn [path_leads hop_from hop_to] in P. rewrite !andb_true_iff in P.
    destruct P as [[P A] B]. apply Pos.eqb_eq in A, B. subst.
    unfold hop_right in P. rewrite !andb_true_iff in P.
    destruct P as [[_ C2] _]. apply counts_took in C2.
    apply andb_true_iff in H as [H1 H2]. apply PeanoNat.Nat.ltb_lt in H1.
    exists n, k. split; [exact H1|]. now apply reads_at_right.
Qed.

Lemma reads_shown_right t i k s : reads_shown h f lv given t i k s = true ->
  took_effect r t = true -> exists j, reads_from h r t j k s /\
    (shown lv = ByEarlierRead -> i = Some j).
Proof.
  unfold reads_shown. intros R T.
  destruct (shown lv);
    try (destruct (reads_any_right _ _ _ _ R T) as [j J]; exists j;
         split; [exact J|discriminate]).
  destruct i as [i|]; [|discriminate]. exists i.
  split; [now apply reads_at_right|auto].
Qed.

(* --- edges *)

Lemma source_took t i k w : reads_from h r t i k (Some w) ->
  took_effect r w = true /\ w <> t /\ writes h w k.
Proof.
  intros [T [[a S] R]].
  destruct (of_others h r E t i k a w T S R) as [W N].
  split; [auto|]. split; [auto|].
  destruct (other_reads h r E t i k a T S) as [x [F _]]. rewrite R in F.
  exists x. exact F.
Qed.

Lemma edge_right_holds e : edge_right h f lv sure_ones given e = true ->
  (forall l, In l (assumed e) -> holds_true l) ->
  edge (leaves_at lv e) (arrives_at lv e).
Proof.
  unfold edge_right. rewrite !andb_true_iff. intros [[[C1 C2] D] R] A.
  apply counts_took in C1, C2. apply different_spec in D.
  unfold leaves_at, arrives_at.
  assert (forall b, fst (overwriter lv b) = b) as ow.
  { intros b. unfold overwriter. now destruct (writes_at_begin lv). }
  destruct e as [s t k i|s t|s m t n|a b k|s t k v i|a b t k i path];
    cbn [from_to fst snd assumed] in *; rewrite ?ow in *.
  - apply (m_read h lv r edge ord M).
    destruct (reads_any_right _ _ _ _ R C2) as [j J]. exists j, k. exact J.
  - destruct (is_session_right s t R C1 C2) as [S O].
    exact (m_session h lv r edge ord M s t S O).
  - destruct (is_before_right s m t n R D C1 C2) as [I O].
    exact (m_clock h lv r edge ord M m n s t I O).
  - apply (m_ord h lv r edge ord M). apply (A (Order a b)). now left.
  - rewrite !andb_true_iff in R. destruct R as [[[V W] N] R].
    destruct (reads_any_right _ _ _ _ R C1) as [j J].
    apply (m_anti h lv r edge ord M s t j k v); auto.
    + now apply is_writer_right.
    + intros X. apply source_eqb_eq in X. now rewrite X in N.
    + intros w ->. apply (A (Order w t)). now left.
  - rewrite !andb_true_iff in R. destruct R as [[[[T N] W] R] S].
    apply counts_took in T. apply different_spec in N.
    destruct (reads_shown_right _ _ _ _ R T) as [j [J Q]].
    apply (m_ord h lv r edge ord M).
    apply (m_forced h lv r edge ord M a b t j k); auto.
    + now apply is_writer_right.
    + eapply shows_seen_right; eauto.
Qed.

Lemma event_eqb_eq x y : event_eqb x y = true -> x = y.
Proof.
  destruct x as [s m], y as [t n]. unfold event_eqb. cbn [fst snd].
  rewrite andb_true_iff. intros [S N]. apply Pos.eqb_eq in S. subst.
  destruct m, n; (reflexivity || discriminate).
Qed.

Lemma goes_on at_ next : goes_on_from lv at_ next = true ->
  took_effect r (fst at_) = true -> at_ = next \/ edge at_ next.
Proof.
  unfold goes_on_from. rewrite orb_true_iff, andb_true_iff.
  intros [G|[O G]] T; [left; now apply event_eqb_eq|].
  destruct at_ as [s [|]], next as [t [|]]; try discriminate.
  apply Pos.eqb_eq in G. subst. right. cbn [fst] in T.
  apply (m_begin h lv r edge ord M); [|auto]. now apply negb_true_iff.
Qed.

Lemma arrives_took e : edge_right h f lv sure_ones given e = true ->
  took_effect r (fst (arrives_at lv e)) = true.
Proof.
  unfold edge_right. rewrite !andb_true_iff. intros [[[_ C] _] _].
  apply counts_took in C. unfold arrives_at, node.
  now destruct (one_event_each lv).
Qed.

Lemma linked_reaches edges : forall first start at_,
  clos_trans event edge start at_ -> took_effect r (fst at_) = true ->
  (forall l, In l (flat_map assumed edges) -> holds_true l) ->
  linked h f lv sure_ones given at_ edges first = true ->
  clos_trans event edge start first.
Proof.
  induction edges as [|e edges IH]; intros first start at_ C T A L; simpl in L.
  - destruct (goes_on at_ first L T) as [<-|G]; [exact C|].
    eapply t_trans; [exact C|now apply t_step].
  - rewrite !andb_true_iff in L. destruct L as [[L1 L2] L3].
    simpl in A. apply (IH first start (arrives_at lv e)).
    + assert (edge (leaves_at lv e) (arrives_at lv e)) as X.
      { apply edge_right_holds; [exact L1|]. intros l I. apply A.
        apply in_or_app. now left. }
      destruct (goes_on _ _ L2 T) as [Eq|G].
      * rewrite Eq in C. eapply t_trans; [exact C|now apply t_step].
      * eapply t_trans; [exact C|]. eapply t_trans; apply t_step; eauto.
    + now apply arrives_took.
    + intros l I. apply A. apply in_or_app. now right.
    + exact L3.
Qed.

Lemma closes_impossible edges : closes h f lv sure_ones given edges = true ->
  (forall l, In l (flat_map assumed edges) -> holds_true l) -> False.
Proof.
  destruct edges as [|e edges]; [discriminate|]. cbn [closes flat_map].
  rewrite andb_true_iff. intros [R L] A.
  apply (m_acyclic h lv r edge ord M (leaves_at lv e)).
  apply (linked_reaches edges (leaves_at lv e) (leaves_at lv e) (arrives_at lv e));
    [|now apply arrives_took| |exact L].
  - apply t_step, edge_right_holds; [exact R|]. intros l I. apply A.
    apply in_or_app. now left.
  - intros l I. apply A. apply in_or_app. now right.
Qed.
End Given.

(* --- what fails to fail holds, where that is all we need *)

Lemma all_true ls : (forall l, In l ls -> ~ ~ holds_true l) ->
  ~ ~ (forall l, In l ls -> holds_true l).
Proof.
  induction ls as [|l ls IH]; intros H N.
  - apply N. intros l [].
  - apply (H l); [now left|]. intros T.
    apply IH; [intros m I; apply H; now right|]. intros A.
    apply N. intros m [<-|I]; auto.
Qed.

Lemma not_neg_given l : may_be_given l = true -> ~ holds_true (neg l) ->
  ~ ~ holds_true l.
Proof.
  destruct l as [a b|t k s i [|]|t [|]]; cbn [may_be_given neg negb]; try discriminate;
    intros _ N; cbn [Literals.holds_true] in *; [exact N|].
  intros F. apply F. destruct (took_effect r t); [auto|]. now exfalso; apply N.
Qed.

(* An assumed order that is false is the opposite one. *)
Lemma not_neg_assumed given e l :
  (forall l, In l given -> holds_true l) ->
  edge_right h f lv sure_ones given e = true -> In l (assumed e) ->
  ~ holds_true (neg l) -> holds_true l.
Proof.
  intros G R I N. unfold edge_right in R. rewrite !andb_true_iff in R.
  destruct R as [[[C1 C2] D] R].
  apply (counts_took given G) in C1, C2. apply different_spec in D.
  assert (forall b, fst (overwriter lv b) = b) as ow.
  { intros b. unfold overwriter. now destruct (writes_at_begin lv). }
  destruct e as [s t k i|s t|s m t n|a b k|s t k v i|a b t k i path];
    cbn [assumed from_to fst snd] in *; rewrite ?ow in *; try (now destruct I).
  - destruct I as [<-|[]]. cbn in N |- *. rewrite !andb_true_iff in R.
    destruct R as [W1 W2].
    destruct (m_either h lv r edge ord M a b k) as [O|O]; auto;
      try (now apply is_writer_right). contradiction.
  - destruct v as [w|]; [|destruct I]. destruct I as [<-|[]]. cbn in N |- *.
    rewrite !andb_true_iff in R. destruct R as [[[V W] X] R].
    destruct (reads_any_right given G _ _ _ _ R C1) as [j J].
    destruct (source_took _ _ _ _ J) as [T1 [T2 T3]].
    destruct (m_either h lv r edge ord M w t k) as [O|O]; auto.
    + split; auto.
    + now apply is_writer_right.
    + intros ->. cbn in X. now rewrite Pos.eqb_refl in X.
    + contradiction.
Qed.

Lemma closes_edge given e edges : closes h f lv sure_ones given edges = true ->
  In e edges -> edge_right h f lv sure_ones given e = true.
Proof.
  destruct edges as [|e' edges]; [discriminate|]. cbn [closes].
  rewrite andb_true_iff. intros [R L]. intros [<-|I]; [exact R|].
  revert L. generalize (arrives_at lv e'), (leaves_at lv e').
  induction edges as [|x edges IH]; intros a b L; [destruct I|]. simpl in L.
  rewrite !andb_true_iff in L. destruct L as [[L1 _] L2].
  destruct I as [<-|I]; [exact L1|]. exact (IH I _ _ L2).
Qed.

Lemma is_named_before_spec names a b : forall seen_a,
  is_named_before names a b seen_a = true ->
  exists j, nth_error names j = Some (Some b) /\
    (seen_a = true \/ exists i, i < j /\ nth_error names i = Some (Some a)).
Proof.
  induction names as [|[t|] names IH]; intros sa H; simpl in H; [discriminate| |].
  - apply orb_true_iff in H as [H|H].
    + apply andb_true_iff in H as [-> H]. apply Pos.eqb_eq in H. subst.
      exists 0. auto.
    + destruct (IH _ H) as [j [J K]]. exists (S j). split; [exact J|].
      destruct K as [K|[i [L I]]].
      * apply orb_true_iff in K as [->|K]; [auto|]. apply Pos.eqb_eq in K. subst.
        right. exists 0. split; [lia|reflexivity].
      * right. exists (S i). split; [lia|exact I].
  - destruct (IH _ H) as [j [J K]]. exists (S j). split; [exact J|].
    destruct K as [K|[i [L I]]]; [auto|].
    right. exists (S i). split; [lia|exact I].
Qed.

Lemma states_right line a b : states h f line a b = true -> ord a b.
Proof.
  unfold states. rewrite andb_true_iff. intros [D S]. apply different_spec in D.
  destruct (nth_error (stated_orders h) line) as [[k order]|] eqn:L; [|discriminate].
  rewrite wrote_right in S. apply is_named_before_spec in S as [j [J K]].
  destruct K as [K|[i [I N]]]; [discriminate|].
  apply (m_stated h lv r edge ord M k). exists order, i, j.
  apply names_spec in J, N. split; [eapply nth_error_In; eauto|]. auto.
Qed.

Lemma fitting_complete t b x : transaction_of h t = Some b ->
  In x (outside (digest_of (known_keys h) b)) -> took_effect r t = true ->
  In (read_from r t (place x) (of_key x))
    (fitting_sources h f lv t (digest_of (known_keys h) b) x).
Proof.
  intros T I Took. unfold fitting_sources.
  pose proof (sources_complete h f digests_right left_right keys_right r E
    t b x T I Took) as C.
  assert (shown lv <> ByEarlierRead ->
    In (read_from r t (place x) (of_key x)) (filter (fun s =>
      forallb (fun y => negb (Pos.eqb (of_key y) (of_key x)) ||
        may_be (sources_of h f t y) s)
      (outside (digest_of (known_keys h) b))) (sources_of h f t x))) as F.
  { intros N. apply filter_In. split; [exact C|]. apply forallb_forall. intros y Y.
    destruct (Pos.eqb_spec (of_key y) (of_key x)) as [K|K]; [|reflexivity].
    cbn [negb orb]. apply may_be_spec.
    pose proof (sources_complete h f digests_right left_right keys_right r E
      t b y T Y Took) as D.
    assert (forall z, In z (outside (digest_of (known_keys h) b)) ->
      reads_from h r t (place z) (of_key z) (read_from r t (place z) (of_key z)))
      as R.
    { intros z Z. split; [auto|]. split; [|auto]. exists (told z).
      now apply (outside_sees h t b). }
    pose proof (R x I) as Rx. pose proof (R y Y) as Ry. rewrite K in Ry, D.
    rewrite (m_one_state h lv r edge ord M t _ _ _ _ _ N Rx Ry). exact D. }
  destruct (shown lv); (exact C || (apply F; discriminate)).
Qed.

(* A clause speaks of a transaction that certainly took effect, or says that it
   did not. *)
Lemma excepted t clause : (forall l, In l clause -> ~ holds_true l) ->
  PM.mem t sure_ones || existsb (literal_eqb (Effect t false)) clause = true ->
  took_effect r t = true.
Proof.
  intros N S. apply orb_true_iff in S as [S|S]; [now apply sure_right|].
  apply existsb_exists in S as [l [J S]]. apply literal_eqb_eq in S. subst l.
  specialize (N _ J). cbn in N. destruct (took_effect r t); congruence.
Qed.

(* --- lost updates *)

Lemma steps_on t : took_effect r t = true ->
  node lv (t, Begin) = node lv (t, Commit) \/
  edge (node lv (t, Begin)) (node lv (t, Commit)).
Proof.
  intros T. unfold node. destruct (one_event_each lv) eqn:N; [left; reflexivity|].
  right. now apply (m_begin h lv r edge ord M).
Qed.

Lemma through_begin e t g : took_effect r t = true ->
  clos_trans event edge e (node lv (t, Begin)) ->
  clos_trans event edge (node lv (t, Commit)) g -> clos_trans event edge e g.
Proof.
  intros T A B. destruct (steps_on t T) as [Q|Q].
  - rewrite Q in A. eapply t_trans; eauto.
  - eapply t_trans; [exact A|]. eapply t_trans; [apply t_step; exact Q|exact B].
Qed.

Section Overwriting.
Hypothesis with_versions : versions lv = true.
Hypothesis at_begin : writes_at_begin lv = true.

Lemma ord_begin a b : ord a b ->
  clos_trans event edge (node lv (a, Commit)) (node lv (b, Begin)).
Proof.
  intros Q. apply t_step. pose proof (m_ord h lv r edge ord M a b Q) as X.
  unfold overwriter in X. now rewrite at_begin in X.
Qed.

(* Whoever overwrites what it read is later. *)
Lemma source_first t i k w : reads_from h r t i k (Some w) -> writer h r t k ->
  ord w t.
Proof.
  intros R W. destruct (source_took _ _ _ _ R) as [Tw [N Ww]].
  destruct (m_either h lv r edge ord M w t k) as [Q|Q]; auto; [split; auto|exfalso].
  apply (m_acyclic h lv r edge ord M (node lv (w, Commit))).
  apply (through_begin _ t); [apply W| |].
  - apply t_step, (m_read h lv r edge ord M). exists i, k. exact R.
  - pose proof (ord_begin t w Q) as X. destruct (steps_on w Tw) as [S|S].
    + now rewrite S in X.
    + eapply t_trans; [exact X|now apply t_step].
Qed.

Lemma one_overwriter s t i j k v : s <> t -> ord s t ->
  reads_from h r s i k v -> reads_from h r t j k v ->
  writer h r s k -> writer h r t k -> False.
Proof.
  intros N Q Rs Rt Ws Wt.
  apply (m_acyclic h lv r edge ord M (node lv (t, Begin))).
  eapply t_trans; [apply t_step|exact (ord_begin s t Q)].
  apply (m_anti h lv r edge ord M t s j k v); auto.
  - intros ->. now destruct (source_took _ _ _ _ Rs) as [_ [X _]].
  - intros w ->. exact (source_first s i k w Rs Ws).
Qed.
End Overwriting.

Lemma distinct_nodup l : distinct l = true -> NoDup l.
Proof.
  induction l as [|t l IH]; simpl; [constructor|]. rewrite andb_true_iff.
  intros [A B]. constructor; [|auto]. intros I. rewrite forallb_forall in A.
  exact (different_spec t t (A t I) eq_refl).
Qed.

Definition source_of (k : key) (ti : txn * nat) : source :=
  read_from r (fst ti) (snd ti) k.

Lemma overwrites_right k ti : overwrites f sure_ones k ti = true ->
  writer h r (fst ti) k /\
  reads_from h r (fst ti) (snd ti) k (source_of k ti) /\
  In (source_of k ti) (sources_at h f k ti).
Proof.
  unfold overwrites, sources_at, source_of. rewrite !andb_true_iff.
  intros [[S W] F]. destruct ti as [t i]. cbn [fst snd] in *.
  assert (took_effect r t = true) as T by now apply sure_right.
  destruct (find_seen f t i k) as [x|] eqn:X; [|discriminate].
  apply find_seen_spec in X as [b [B [I [<- <-]]]].
  split; [now apply is_writer_right|]. split.
  - split; [exact T|]. split; [|reflexivity]. exists (told x).
    now apply (outside_sees h t b).
  - eapply sources_complete; eauto.
Qed.

Lemma sources_distinct k readers : versions lv = true -> writes_at_begin lv = true ->
  NoDup (map fst readers) ->
  (forall ti, In ti readers -> overwrites f sure_ones k ti = true) ->
  NoDup (map (source_of k) readers).
Proof.
  intros V B. induction readers as [|ti readers IH]; intros D A; [constructor|].
  inversion D as [|x l N D']; subst. cbn [map]. constructor.
  - intros I. apply in_map_iff in I as [tj [Q I]].
    destruct (overwrites_right k ti) as [W [R _]]; [apply A; now left|].
    destruct (overwrites_right k tj) as [W' [R' _]]; [apply A; now right|].
    rewrite Q in R'.
    assert (fst ti <> fst tj) as NE by
      (intros X; apply N; rewrite X; now apply in_map).
    destruct (m_either h lv r edge ord M _ _ k W W' NE) as [O|O].
    + eapply (one_overwriter V B (fst ti) (fst tj)); eauto.
    + eapply (one_overwriter V B (fst tj) (fst ti)); eauto.
  - apply IH; [exact D'|]. intros tj I. apply A. now right.
Qed.

Lemma overdrawn_impossible k readers :
  overdrawn h f lv sure_ones k readers = true -> False.
Proof.
  unfold overdrawn. rewrite !andb_true_iff. intros [[[[V B] D] A] L].
  rewrite forallb_forall in A. apply PeanoNat.Nat.ltb_lt in L.
  pose proof (sources_distinct k readers V B (distinct_nodup _ D) A) as N.
  assert (incl (map (source_of k) readers)
    (nodup source_dec (flat_map (sources_at h f k) readers))) as I.
  { intros s S. apply nodup_In. apply in_map_iff in S as [ti [<- J]].
    apply in_flat_map. exists ti. split; [exact J|].
    now apply overwrites_right, A. }
  pose proof (NoDup_incl_length N I) as X. rewrite map_length in X. lia.
Qed.

Variable db : clauses.
Hypothesis db_holds : forall n c, PM.find n db = Some c -> clause_holds c.

Lemma adds_sound s c : adds h f lv sure_ones db s = Some c -> clause_holds c.
Proof.
  destruct s as [edges given|a t k i path given|a b line|t i k clause|t k s i clause
    |t clause|k readers|clause hints]; cbn [adds].
  - destruct (forallb may_be_given given && closes h f lv sure_ones given edges)
      eqn:B; [|discriminate]. apply andb_true_iff in B as [G B].
    intros X. injection X as <-. intros N. rewrite forallb_forall in G.
    apply (all_true given).
    + intros l I. apply not_neg_given; [auto|]. apply N, in_map, in_or_app. auto.
    + intros A. apply (closes_impossible given A edges B).
      intros l I. apply in_flat_map in I as [e [I J]].
      apply (not_neg_assumed given e l A); [|exact J|].
      * eapply closes_edge; eauto.
      * apply N, in_map, in_or_app. left. apply in_flat_map. eauto.
  - destruct (_ && _) eqn:B; [|discriminate]. rewrite !andb_true_iff in B.
    destruct B as [[[[[[G C1] C2] D] W] R] S].
    intros X. injection X as <-. intros N. rewrite forallb_forall in G.
    apply (all_true given).
    + intros l I. apply not_neg_given; [auto|]. now apply N, in_map.
    + intros A. apply (counts_took given A) in C1, C2. apply different_spec in D.
      destruct (reads_shown_right given A _ _ _ _ R C2) as [j [J Q]].
      apply (m_unseen h lv r edge ord M a t j k J); auto.
      * now apply is_writer_right.
      * eapply shows_seen_right; eauto.
  - destruct (states h f line a b) eqn:S; [|discriminate].
    intros X. injection X as <-. intros N. apply (N (Order a b)); [now left|].
    exact (states_right line a b S).
  - destruct (lists_sources h f lv sure_ones t i k clause) eqn:L; [|discriminate].
    intros X. injection X as <-. intros N. unfold lists_sources in L.
    destruct (PM.find t (digests f)) as [d|] eqn:D; [|discriminate].
    destruct (find_seen f t i k) as [x|] eqn:F; [|discriminate].
    apply andb_true_iff in L as [L S].
    apply find_seen_spec in F as [b [T [I [P K]]]].
    rewrite digests_right, T in D. apply Replay.some_inv in D. subst d.
    assert (took_effect r t = true) as Took by (eapply excepted; eauto).
    rewrite forallb_forall in L.
    specialize (L _ (fitting_complete t b x T I Took)).
    assert (reads_from h r t i k (read_from r t (place x) (of_key x))) as R.
    { rewrite P, K. split; [auto|]. split; [|auto]. exists (told x).
      rewrite <- P, <- K. now apply (outside_sees h t b). }
    apply existsb_exists in L as [l [J O]].
    apply orb_true_iff in O as [O|O]; apply literal_eqb_eq in O; subst l;
      apply (N _ J); cbn [Literals.holds_true sees_it]; [exact R|].
    exists i. exact R.
  - destruct (_ && _) eqn:B; [|discriminate]. apply andb_true_iff in B as [S F].
    intros X. injection X as <-. intros N.
    apply existsb_exists in S as [l [I S]]. apply literal_eqb_eq in S. subst l.
    apply existsb_exists in F as [l [J F]]. apply literal_eqb_eq in F. subst l.
    apply (N _ I). cbn [Literals.holds_true]. intros R. apply (N _ J). cbn.
    destruct i as [i|]; cbn [sees_it] in R; [|destruct R as [i' R]];
      now apply source_took in R.
  - destruct (PM.find t (digests f)) as [d|] eqn:D; [|discriminate].
    destruct (_ && _) eqn:B; [|discriminate]. apply andb_true_iff in B as [S C].
    intros X. injection X as <-. intros N. apply negb_true_iff in C.
    assert (took_effect r t = true) as Took by (eapply excepted; eauto).
    rewrite digests_right in D.
    destruct (transaction_of h t) as [b|] eqn:T; [|discriminate].
    apply Replay.some_inv in D. subst d.
    enough (consistent (digest_of (known_keys h) b) = true) by congruence.
    apply (consistent_spec h t b T). intros i a s O.
    exact (own_reads h r E t i a s Took O).
  - destruct (overdrawn h f lv sure_ones k readers) eqn:V; [|discriminate].
    intros _ _. exact (overdrawn_impossible k readers V).
  - destruct (follows db clause hints) eqn:F; [|discriminate].
    intros X. injection X as <-. eapply follows_sound; eauto.
Qed.
End Sound.

Section Refuted.
Variables (h : history) (f : facts) (lv : strength) (sure_ones : PM.t unit).
Variables (r : reading) (edge : event -> event -> Prop) (ord : txn -> txn -> Prop).
Hypothesis M : model h lv r edge ord.
Hypothesis digests_right : forall t, PM.find t (digests f) =
  option_map (digest_of (known_keys h)) (transaction_of h t).
Hypothesis wrote_right : wrote_what f = authors h.
Hypothesis left_right : left_what f =
  index_of _ (left_entries (digests f) false) (PM.elements (transactions h)).
Hypothesis keys_right : left_key f =
  index_of _ (left_entries (digests f) true) (PM.elements (transactions h)).
Hypothesis sure_right : sure r sure_ones.

Lemma refutes_sound steps : forall db n,
  (forall m c, PM.find m db = Some c -> clause_holds h r ord c) ->
  refutes h f lv sure_ones db n steps = true -> False.
Proof.
  induction steps as [|s steps IH]; intros db n D; simpl; [discriminate|].
  destruct (adds h f lv sure_ones db s) as [c|] eqn:A; [|discriminate].
  assert (clause_holds h r ord c) as C by (eapply adds_sound; eauto).
  assert (forall m c', PM.find m (PM.add n c db) = Some c' ->
    clause_holds h r ord c') as D'.
  { intros m c'. destruct (Pos.eq_dec m n) as [->|ne].
    - rewrite PM.gss. intros X. apply Replay.some_inv in X. now subst.
    - rewrite PM.gso by auto. apply D. }
  destruct c as [|l c]; [|exact (IH _ _ D')].
  intros _. apply C. intros l [].
Qed.
End Refuted.
