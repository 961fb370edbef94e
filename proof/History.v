(* What was recorded: the history that a verdict is about.

   A history is a set of transactions. Each belongs to a session, ended in some
   way, perhaps at known times, and is a list of operations with what they
   returned. Keys, values and sessions are numbers here; a transaction is the
   place of its line in the file, from 1, so that of two transactions of one
   session the one with the smaller number came first.

   Words of Coq on this page: a [Definition] names something, an [Inductive]
   lists the forms that something can take, a [Record] has fields, [option x]
   is [Some x] or [None], and [/\], [\/], [~] are "and", "or", "not". *)
From Coq Require Import PArith ZArith List Bool FMapPositive.
Import ListNotations.
Module PM := PositiveMap.

Definition key := positive.
Definition txn := positive.
(* [None] is null. Values may repeat: nothing says who wrote one. *)
Definition value := option positive.

Definition value_eqb (v w : value) : bool :=
  match v, w with
  | Some a, Some b => Pos.eqb a b
  | None, None => true
  | _, _ => false
  end.

(* What a key holds: a value, or the mark that a deletion left there. *)
Inductive state :=
  | Holds (v : value)
  | Removed (tombstone : value).

(* What a read may return of a state: its value; of a key that was removed,
   null or, where a recorder keeps the row, its tombstone. *)
Definition shows (s : state) (v : value) : bool :=
  match s with
  | Holds w => value_eqb w v
  | Removed t => value_eqb None v || value_eqb t v
  end.

Definition absent (s : state) : bool :=
  match s with
  | Holds v => value_eqb v None
  | Removed _ => true
  end.

(* A read may state whose write it returned: that of a transaction, or the
   initial state. *)
Definition source := option txn.

Inductive operation :=
  | Read (k : key) (v : value) (stated : option source)
  | Write (k : key) (v : value)
  | Delete (k : key) (tombstone : value)
  | CompareAndSet (k : key) (expected new : value) (done : bool)
  | Insert (k : key) (v : value) (done : bool)
  (* every key from [low] to [high] that was there, with its value *)
  | Range (low high : option key) (rows : list (key * value)).

Inductive outcome := Committed | Aborted | Unknown.

(* When an event happened: between a request and its response. *)
Record interval := { request : option Z; response : option Z }.

Record transaction := {
  session : positive;
  status : outcome;
  began : interval;
  ended : interval;
  operations : list operation }.

(* One entry of a stated order of versions: a version by its value alone, or
   the one that a certain transaction wrote. *)
Inductive version_name :=
  | Valued (v : value)
  | OfTransaction (t : txn) (v : option value).

Record history := {
  transactions : PM.t transaction;
  initial_of_all : value;
  initial_of_one : PM.t value;  (* keys that have one of their own *)
  stated_orders : list (key * list version_name);
  drift : Z }.  (* nanoseconds that the clocks of two sessions may differ *)

Definition transaction_of (h : history) (t : txn) : option transaction :=
  PM.find t (transactions h).

Definition initial_value (h : history) (k : key) : value :=
  match PM.find k (initial_of_one h) with
  | Some v => v
  | None => initial_of_all h
  end.

(* --- what operations leave *)

Definition installs (o : operation) : option (key * state) :=
  match o with
  | Write k v => Some (k, Holds v)
  | Delete k t => Some (k, Removed t)
  | CompareAndSet k _ v true | Insert k v true => Some (k, Holds v)
  | _ => None
  end.

(* The state in which these operations, the first one first, leave a key that
   one of them writes. *)
Fixpoint written_by (ops : list operation) (k : key) : option state :=
  match ops with
  | [] => None
  | o :: rest =>
      match written_by rest k with
      | Some s => Some s
      | None =>
          match installs o with
          | Some (k', s) => if Pos.eqb k' k then Some s else None
          | None => None
          end
      end
  end.

(* What others can see of a transaction: of each key, what it wrote last. *)
Definition leaves (h : history) (t : txn) (k : key) : option state :=
  match transaction_of h t with
  | Some body => written_by (operations body) k
  | None => None
  end.

Definition writes (h : history) (t : txn) (k : key) : Prop :=
  exists s, leaves h t k = Some s.

(* --- what operations tell of the state that they found *)

Inductive answer :=
  | Is (v : value)
  | IsNot (v : value)
  | IsAbsent
  | IsPresent.

Definition accepts (a : answer) (s : state) : bool :=
  match a with
  | Is v => shows s v
  | IsNot v => negb (shows s v)
  | IsAbsent => absent s
  | IsPresent => negb (absent s)
  end.

(* The keys that an operation names. *)
Definition names (o : operation) (k : key) : Prop :=
  match o with
  | Read k' _ _ | Write k' _ | Delete k' _
  | CompareAndSet k' _ _ _ | Insert k' _ _ => k' = k
  | Range _ _ rows => In k (map fst rows)
  end.

(* The keys that may be there at all: some operation of a transaction that did
   not abort names them, or they have an initial value of their own. *)
Definition known_key (h : history) (k : key) : Prop :=
  (exists t body o, transaction_of h t = Some body /\ status body <> Aborted /\
    In o (operations body) /\ names o k) \/
  (exists p, PM.find k (initial_of_one h) = Some (Some p)).

Definition within (low high : option key) (k : key) : bool :=
  match low with Some l => Pos.leb l k | None => true end &&
  match high with Some l => Pos.leb k l | None => true end.

(* [looks_at h o k a]: the operation tells [a] of key [k]. A range tells of each
   row that it returned what the key held, and of every other known key within
   its bounds that it was absent. *)
Inductive looks_at (h : history) : operation -> key -> answer -> Prop :=
  | reads k v stated : looks_at h (Read k v stated) k (Is v)
  | finds k v w : looks_at h (CompareAndSet k v w true) k (Is v)
  | misses k v w : looks_at h (CompareAndSet k v w false) k (IsNot v)
  | creates k v : looks_at h (Insert k v true) k IsAbsent
  | exists_already k v : looks_at h (Insert k v false) k IsPresent
  | returns low high rows k v :
      In (k, v) rows -> looks_at h (Range low high rows) k (Is v)
  | leaves_out low high rows k :
      known_key h k -> within low high k = true -> ~ In k (map fst rows) ->
      looks_at h (Range low high rows) k IsAbsent.

(* Operation [i] of transaction [t], from 0, tells [a] of a key that the
   transaction had written before: it saw that write. *)
Definition sees_itself (h : history) (t : txn) (i : nat) (a : answer)
    (s : state) : Prop :=
  exists body o k, transaction_of h t = Some body /\
    nth_error (operations body) i = Some o /\ looks_at h o k a /\
    written_by (firstn i (operations body)) k = Some s.

(* The same of a key that it had not written: it saw what others had left. *)
Definition sees_others (h : history) (t : txn) (i : nat) (k : key)
    (a : answer) : Prop :=
  exists body o, transaction_of h t = Some body /\
    nth_error (operations body) i = Some o /\ looks_at h o k a /\
    written_by (firstn i (operations body)) k = None.

(* The source that the read at this place states, where it saw others. *)
Definition states_source (h : history) (t : txn) (i : nat) (s : source) : Prop :=
  exists body k v, transaction_of h t = Some body /\
    nth_error (operations body) i = Some (Read k v (Some s)) /\
    written_by (firstn i (operations body)) k = None.

(* --- sessions, the clock, stated orders *)

Definition committed (h : history) (t : txn) : Prop :=
  exists body, transaction_of h t = Some body /\ status body = Committed.

(* A session waits for each transaction before it begins the next, unless it
   was left without an answer. *)
Definition session_before (h : history) (s t : txn) : Prop :=
  exists a b, transaction_of h s = Some a /\ transaction_of h t = Some b /\
    session a = session b /\ status a = Committed /\ (s < t)%positive.

(* A transaction reads when it begins and writes when it commits. *)
Inductive moment := Begin | Commit.

(* When it did; one of unknown outcome commits at any time after its begin. *)
Definition when (b : transaction) (m : moment) : interval :=
  match m, status b with
  | Begin, _ => began b
  | Commit, Committed => ended b
  | Commit, _ => {| request := request (began b); response := None |}
  end.

(* The response to the one lies before the request of the other, on two clocks
   by as much as they may differ. *)
Definition clock_before (h : history) (s : txn) (m : moment) (t : txn)
    (n : moment) : Prop :=
  exists a b x y, transaction_of h s = Some a /\ transaction_of h t = Some b /\
    response (when a m) = Some x /\ request (when b n) = Some y /\ (x < y)%Z /\
    (session a = session b \/ drift h <= y - x)%Z.

(* Some operation, perhaps one that its transaction overwrote, wrote this. *)
Definition wrote (h : history) (t : txn) (k : key) (v : value) : Prop :=
  exists body o s, transaction_of h t = Some body /\ status body <> Aborted /\
    In o (operations body) /\ installs o = Some (k, s) /\
    (s = Holds v \/ s = Removed v).

(* Whom the entry at a place of a stated order names. By a value it names the
   one transaction that wrote it; nobody if it is null or, in first place, the
   initial value. *)
Definition named (h : history) (k : key) (order : list version_name) (i : nat)
    (t : txn) : Prop :=
  match nth_error order i with
  | Some (OfTransaction s None) => s = t /\ exists v, wrote h t k v
  | Some (OfTransaction s (Some v)) => s = t /\ wrote h t k v
  | Some (Valued v) =>
      v <> None /\ ~ (i = O /\ v = initial_value h k) /\
      wrote h t k v /\ forall u, wrote h u k v -> u = t
  | None => False
  end.

(* The history states that [s] wrote the key before [t] did. *)
Definition stated_before (h : history) (k : key) (s t : txn) : Prop :=
  exists order i j, In (k, order) (stated_orders h) /\ i < j /\
    named h k order i s /\ named h k order j t /\ s <> t.

Definition named_somewhere (h : history) (t : txn) : Prop :=
  exists k order i, In (k, order) (stated_orders h) /\ named h k order i t.
