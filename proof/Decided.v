(* Of given choices it is decided whether one transaction depends on another:
   there are finitely many transactions, reads and keys to look at. *)
From Coq Require Import PArith List Bool FMapPositive Relations Lia.
From Proof Require Import History Levels Digest LevelModels Extension.
Import ListNotations.

Section Decided.
Variables (h : history) (r : reading) (before : key -> txn -> txn -> Prop).
Hypothesis E : explains h r.
Hypothesis O : version_order h r before.

Definition took_ones : list txn :=
  filter (took_effect r) (map fst (PM.elements (transactions h))).

Lemma took_ones_spec t : In t took_ones <-> took_effect r t = true.
Proof.
  unfold took_ones. rewrite filter_In. split; [tauto|]. intros T. split; [|exact T].
  destruct (nobody_else h r E t T) as [b [B _]]. apply elements_iff in B.
  apply in_map_iff. exists (t, b). auto.
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
End Decided.
