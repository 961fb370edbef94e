(* Snapshot isolation with sessions implies prefix consistency.

   The events of snapshot isolation have no cycle, so that there is a total order
   of them; the order of its commits is the commit order. What a transaction sees
   committed before it began, and so did the prefix before that. *)
From Coq Require Import PArith List Bool FMapPositive Relations Lia FinFun.
From Proof Require Import History Levels Digest LevelModels Extension.
Import ListNotations.

Section Arrow.
Variables (h : history) (r : reading) (before : key -> txn -> txn -> Prop).
Hypothesis E : explains h r.
Hypothesis O : version_order h r before.

Definition edge (e f : event) : Prop :=
  snapshot_edge h r before e f \/ session_edge h r e f.
Hypothesis acyc : acyclic edge.

(* --- all events, and that it is decided which of them an edge joins *)

Definition took_ones : list txn :=
  filter (took_effect r) (map fst (PM.elements (transactions h))).

Lemma took_ones_spec t : In t took_ones <-> took_effect r t = true.
Proof.
  unfold took_ones. rewrite filter_In. split; [tauto|]. intros T. split; [|exact T].
  destruct (nobody_else h r E t T) as [b [B _]]. apply elements_iff in B.
  apply in_map_iff. exists (t, b). auto.
Qed.

Definition all_events : list event :=
  map (fun t => (t, Begin)) took_ones ++ map (fun t => (t, Commit)) took_ones.

Lemma all_events_spec t m : In (t, m) all_events <-> took_effect r t = true.
Proof.
  unfold all_events. rewrite in_app_iff, !in_map_iff, <- took_ones_spec. split.
  - intros [[u [X I]]|[u [X I]]]; injection X as <- _; exact I.
  - intros I. destruct m; [left|right]; exists t; auto.
Qed.

Lemma elements_distinct : NoDup (map fst (PM.elements (transactions h))).
Proof.
  pose proof (PM.elements_3w (transactions h)) as Z.
  induction Z as [|[k y] l N Z IH]; [constructor|]. simpl. constructor; [|exact IH].
  intros I. apply N. apply in_map_iff in I as [[k' y'] [X I]]. simpl in X. subst.
  apply SetoidList.InA_alt. exists (k, y'). split; [reflexivity|exact I].
Qed.

Lemma distinct_app {A} (l m : list A) : NoDup l -> NoDup m ->
  (forall x, In x l -> ~ In x m) -> NoDup (l ++ m).
Proof.
  intros L M D. induction L as [|a l N L IH]; [exact M|]. simpl. constructor.
  - rewrite in_app_iff. intros [I|I]; [contradiction|]. apply (D a); [now left|exact I].
  - apply IH. intros x I. apply D. now right.
Qed.

Lemma all_events_distinct : NoDup all_events.
Proof.
  assert (NoDup took_ones) as D by (apply NoDup_filter, elements_distinct).
  unfold all_events. apply distinct_app.
  - apply Injective_map_NoDup; [|exact D]. intros x y X. now injection X.
  - apply Injective_map_NoDup; [|exact D]. intros x y X. now injection X.
  - intros e I J. apply in_map_iff in I as [t [<- _]].
    apply in_map_iff in J as [u [X _]]. discriminate.
Qed.

(* A read is an entry of the digest. *)
Lemma reads_listed t b i k s : transaction_of h t = Some b ->
  reads_from h r t i k s -> exists x,
    In x (outside (digest_of (known_keys h) b)) /\ place x = i /\ of_key x = k /\
    read_from r t (place x) (of_key x) = s.
Proof.
  intros B [_ [[a S] R]].
  destruct (sees_outside h t b B i k a S) as [x [I [<- [<- _]]]]. exists x. auto.
Qed.

Lemma listed_reads t b x : transaction_of h t = Some b -> took_effect r t = true ->
  In x (outside (digest_of (known_keys h) b)) ->
  reads_from h r t (place x) (of_key x) (read_from r t (place x) (of_key x)).
Proof.
  intros B T I. split; [exact T|]. split; [|reflexivity]. exists (told x).
  now apply (outside_sees h t b).
Qed.

Lemma source_decided (s t : source) : s = t \/ s <> t.
Proof.
  destruct s as [a|], t as [b|]; try (now right); [|now left].
  destruct (Pos.eq_dec a b) as [->|N]; [now left|right; congruence].
Qed.

Lemma read_decided s t : took_effect r t = true ->
  read_dependency h r s t \/ ~ read_dependency h r s t.
Proof.
  intros T. destruct (nobody_else h r E t T) as [b [B _]].
  destruct (some_or_none
    (fun x => read_from r t (place x) (of_key x) = Some s)
    (outside (digest_of (known_keys h) b))) as [[x [I X]]|N].
  - intros x _. apply source_decided.
  - left. exists (place x), (of_key x). rewrite <- X. now apply (listed_reads t b).
  - right. intros [i [k R]]. apply N.
    destruct (reads_listed t b i k _ B R) as [x [I [_ [_ X]]]]. eauto.
Qed.

Lemma writes_decided t k : writes h t k \/ ~ writes h t k.
Proof.
  unfold writes. destruct (leaves h t k) as [x|]; [left; eauto|].
  right. intros [x X]. discriminate.
Qed.

Lemma before_decided k s t : took_effect r s = true -> took_effect r t = true ->
  before k s t \/ ~ before k s t.
Proof.
  intros S T.
  assert (~ (writes h s k /\ writes h t k) -> ~ before k s t) as no.
  { intros N B. apply N. destruct (of_writers h r before O k s t B) as [[_ X] [_ Y]].
    auto. }
  destruct (writes_decided s k) as [Ws|Ws]; [|right; tauto].
  destruct (writes_decided t k) as [Wt|Wt]; [|right; tauto].
  destruct (Pos.eq_dec s t) as [->|N].
  - right. apply (irreflexive h r before O).
  - destruct (total h r before O k s t) as [B|B]; [split; auto|split; auto|auto|auto|].
    right. intros X. apply (irreflexive h r before O k s).
    exact (transitive h r before O k s t s X B).
Qed.

Lemma write_decided s t : took_effect r s = true -> took_effect r t = true ->
  write_dependency before s t \/ ~ write_dependency before s t.
Proof.
  intros S T. destruct (nobody_else h r E s S) as [b [B _]].
  destruct (some_or_none (fun k => before k s t)
    (map fst (PM.elements (left (digest_of (known_keys h) b))))) as [[k [_ X]]|N].
  - intros k _. now apply before_decided.
  - left. exists k. exact X.
  - right. intros [k X]. apply N. exists k. split; [|exact X].
    destruct (of_writers h r before O k s t X) as [[_ [y Y]] _].
    rewrite <- (digest_left h s b B) in Y. apply elements_iff in Y.
    apply in_map_iff. exists (k, y). auto.
Qed.

Lemma anti_decided s t : took_effect r s = true -> took_effect r t = true ->
  anti_dependency h r before s t \/ ~ anti_dependency h r before s t.
Proof.
  intros S T. destruct (Pos.eq_dec s t) as [Q|Q]; [right; intros [N _]; contradiction|].
  destruct (nobody_else h r E s S) as [b [B _]].
  pose (fun x => match read_from r s (place x) (of_key x) with
    | Some w => before (of_key x) w t
    | None => writer h r t (of_key x)
    end) as P.
  destruct (some_or_none P (outside (digest_of (known_keys h) b)))
    as [[x [I X]]|N].
  - intros x I. unfold P. pose proof (listed_reads s b x B S I) as R.
    destruct (read_from r s (place x) (of_key x)) as [w|].
    + apply before_decided; [|exact T]. now apply (reads_took h r E s _ _ w R).
    + destruct (writes_decided t (of_key x)) as [W|W]; [left; split; auto|].
      right. intros [_ X]. contradiction.
  - left. split; [exact Q|]. exists (place x), (of_key x). unfold P in X.
    pose proof (listed_reads s b x B S I) as R.
    destruct (read_from r s (place x) (of_key x)) as [w|]; [left|right; auto].
    exists w. auto.
  - right. intros [_ [i [k D]]]. apply N. unfold P.
    destruct D as [[w [R X]]|[R X]];
      destruct (reads_listed s b i k _ B R) as [x [I [_ [K Y]]]];
      exists x; (split; [exact I|]); rewrite Y, K; exact X.
Qed.

Lemma session_decided s t : took_effect r s = true -> took_effect r t = true ->
  session_order h r s t \/ ~ session_order h r s t.
Proof.
  intros S T. destruct (nobody_else h r E s S) as [a [A _]].
  destruct (nobody_else h r E t T) as [b [B _]].
  assert (session a = session b /\ status a = Committed /\ (s < t)%positive \/
    ~ (session a = session b /\ status a = Committed /\ (s < t)%positive)) as D.
  { destruct (Pos.eq_dec (session a) (session b)); [|right; tauto].
    destruct (status a); try (right; intros [_ [X _]]; discriminate).
    destruct (Pos.ltb_spec s t); [left; auto|right; lia]. }
  destruct D as [D|D]; [left|right].
  - split; [auto|]. split; [auto|]. exists a, b. tauto.
  - intros [_ [_ [a' [b' [A' [B' X]]]]]]. rewrite A in A'. rewrite B in B'.
    injection A' as <-. injection B' as <-. contradiction.
Qed.

Lemma edge_decided : decided edge all_events.
Proof.
  intros [s m] [t n] S T. apply all_events_spec in S, T. unfold edge.
  destruct m, n.
  - right. intros [X|X]; inversion X.
  - destruct (anti_decided s t S T) as [D|D].
    + left. left. now constructor.
    + destruct (Pos.eq_dec s t) as [->|N]; [left; left; now constructor|].
      right. intros [X|X]; inversion X; subst; contradiction.
  - destruct (read_decided s t T) as [D|D]; [left; left; now constructor|].
    destruct (write_decided s t S T) as [W|W]; [left; left; now constructor|].
    destruct (session_decided s t S T) as [C|C]; [left; right; now constructor|].
    right. intros [X|X]; inversion X; subst; contradiction.
  - right. intros [X|X]; inversion X.
Qed.

(* --- the order of the commits *)

Lemma ordered : exists T, total_order all_events T /\
  forall e f, In e all_events -> In f all_events -> edge e f -> T e f.
Proof.
  apply (extension edge acyc (length all_events)); auto.
  - exact all_events_distinct.
  - exact edge_decided.
  - intros [s m] [t n] _ _. destruct (Pos.eq_dec s t) as [->|N]; [|right; congruence].
    destruct m, n; (now left) || (right; congruence).
Qed.

Lemma arrow : prefix h.
Proof.
  destruct ordered as [T [TO F]].
  assert (forall s m t n, took_effect r s = true -> took_effect r t = true ->
    edge (s, m) (t, n) -> T (s, m) (t, n)) as F'.
  { intros s m t n S U X. apply F; auto; now apply all_events_spec. }
  assert (forall t, took_effect r t = true -> T (t, Begin) (t, Commit)) as B.
  { intros t U. apply F'; auto. left. now constructor. }
  assert (forall s t, session_or_read h r s t -> took_effect r s = true /\
    took_effect r t = true /\ T (s, Commit) (t, Begin)) as sees.
  { intros s t [D|D].
    - split; [apply D|]. split; [apply D|]. apply F'; [apply D|apply D|].
      right. now constructor.
    - assert (took_effect r s = true /\ took_effect r t = true) as [S U].
      { destruct D as [i [k R]]. split; [now apply (reads_took h r E t i k s R)|apply R]. }
      split; [auto|]. split; [auto|]. apply F'; auto. left. now constructor. }
  pose proof (t_transitive _ T TO) as trans.
  exists r, (fun s t => took_effect r s = true /\ took_effect r t = true /\
    T (s, Commit) (t, Commit)).
  split; [exact E|]. split; [split|].
  - intros s [_ [_ X]]. exact (t_irreflexive _ T TO _ X).
  - intros s t u [S [_ X]] [_ [U Y]]. split; [auto|]. split; [auto|].
    exact (trans _ _ _ X Y).
  - intros s t S U N.
    destruct (t_total _ T TO (s, Commit) (t, Commit)) as [X|X]; auto;
      try (now apply all_events_spec). congruence.
  - intros s t D. destruct (sees s t (or_introl D)) as [S [U X]].
    split; [auto|]. split; [auto|]. exact (trans _ _ _ X (B t U)).
  - intros s t D. destruct (sees s t (or_intror D)) as [S [U X]].
    split; [auto|]. split; [auto|]. exact (trans _ _ _ X (B t U)).
  - intros k s t D. apply (follows_stated h r before O) in D.
    destruct (of_writers h r before O k s t D) as [[S _] [U _]].
    split; [auto|]. split; [auto|].
    refine (trans _ _ _ _ (B t U)). apply F'; auto. left. apply overwrites_what_is_committed.
    exists k. exact D.
  - intros t1 t2 t3 i x R W N [t [V D]].
    destruct (sees t t3 D) as [_ [U3 L]].
    assert (T (t2, Commit) (t3, Begin)) as M.
    { destruct V as [->|[_ [_ V]]]; [exact L|exact (trans _ _ _ V L)]. }
    destruct W as [U2 W2].
    assert (~ anti_dependency h r before t3 t2) as no_anti.
    { intros A. apply (t_irreflexive _ T TO (t2, Commit)).
      refine (trans _ _ _ M _). apply F'; auto. left. now constructor. }
    assert (t3 <> t2) as N32.
    { intros ->. apply (t_irreflexive _ T TO (t2, Begin)).
      exact (trans _ _ _ (B t2 U2) M). }
    destruct t1 as [w|].
    + exists w. split; [auto|].
      destruct (reads_took h r E t3 i x w R) as [Uw [_ Ww]].
      destruct (total h r before O x t2 w) as [P|P]; auto; [split; auto|congruence| |].
      * split; [auto|]. split; [auto|]. refine (trans _ _ _ _ (B w Uw)).
        apply F'; auto. left. apply overwrites_what_is_committed. exists x. exact P.
      * exfalso. apply no_anti. split; [auto|]. exists i, x. left. exists w. auto.
    + exfalso. apply no_anti. split; [auto|]. exists i, x. right.
      split; [auto|]. split; auto.
Qed.
End Arrow.

Theorem session_si_prefix h : session_si h -> prefix h.
Proof.
  intros [r [before [E [O A]]]]. exact (arrow h r before E O A).
Qed.
