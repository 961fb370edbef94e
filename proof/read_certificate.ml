(* Reads a certificate: docs/formats/certificate.md. What it leaves to be found (which operation an edge is about, whose write
   a read in a commit order saw, clocks of causality) is found here.

   This file is not trusted: whatever it makes of a certificate, the checker accepts it only if it proves the claim. *)
open Checker
open Read_history

exception Refused of string

let refused fmt = Printf.ksprintf (fun s -> raise (Refused s)) fmt

type context = {
  history : history;
  prepared : prepared;
  home : (int, int * int) Hashtbl.t; (* of an operation: its transaction, from 1, and its place there *)
  operation_of : (int * int, int) Hashtbl.t;
}

let rec nat n = if n <= 0 then O else S (nat (n - 1))
let rec int_of_nat = function O -> 0 | S n -> 1 + int_of_nat n
let rec int_of_positive = function XH -> 1 | XO n -> 2 * int_of_positive n | XI n -> (2 * int_of_positive n) + 1

let context history lines =
  let home = Hashtbl.create 1000 and operation_of = Hashtbl.create 1000 in
  let next = ref 0 in
  List.iteri
    (fun t line ->
      List.iteri
        (fun i _ ->
          Hashtbl.add home !next (t + 1, i);
          Hashtbl.add operation_of (t + 1, i) !next;
          incr next)
        (operations line))
    (List.filter (List.mem_assoc "ops") lines);
  { history; prepared = prepare history; home; operation_of }

let get name = function
  | `Assoc fields -> ( match List.assoc_opt name fields with Some x -> x | None -> malformed "'%s' is missing" name)
  | _ -> malformed "an object with '%s' is expected" name

let find name = function `Assoc fields -> List.assoc_opt name fields | _ -> malformed "an object is expected"
let list = function `List l -> l | _ -> malformed "an array is expected"
let index = function `Int n when n >= 0 -> n | _ -> malformed "an index is expected"
let string = function `String s -> s | _ -> malformed "a string is expected"
let txn json = positive (index json + 1)
let source = function `Null -> None | json -> Some (txn json)
let key_of json = match Hashtbl.find_opt key_numbers (text json) with Some k -> k | None -> refused "a key that the history has not"
let place c json = match Hashtbl.find_opt c.home (index json) with Some p -> p | None -> refused "no such operation"

(* The place of an operation that has to be one of [t]. *)
let place_in c t = function
  | None -> None
  | Some json ->
      let owner, i = place c json in
      if positive owner <> t then refused "an operation of another transaction";
      Some (nat i)

let outside_of c t = match PM.find t c.prepared.looked_up.digests with Some d -> d.outside | None -> []

let body c t = match PM.find t c.history.transactions with Some b -> b | None -> refused "no such transaction"

(* Whether the operation tells a version of the key: of the others it has to be given whose write they saw. *)
let tells c t n k =
  match List.nth (body c t).operations (int_of_nat n) with
  | Read (k', _, _) | CompareAndSet (k', _, _, true) | Insert (k', _, true) -> k' = k
  | Range (_, _, rows) -> List.mem_assoc k rows
  | _ -> false

(* The first or the last operation of [t] that certainly read the key from [s], or is given to have done so. *)
let find_place c given pick t k s =
  let reads x = tells c t x.place k && x.of_key = k && certainly_reads c.history c.prepared.looked_up t x.place k s in
  let certain = List.filter_map (fun x -> if reads x then Some (int_of_nat x.place) else None) (outside_of c t) in
  let named = List.filter_map (function Seen (t', k', s', Some i, true) when t' = t && k' = k && s' = s -> Some (int_of_nat i) | _ -> None) given in
  match List.sort compare (certain @ named) with
  | [] -> None
  | all -> Some (nat (match pick with `First -> List.hd all | `Last -> List.nth all (List.length all - 1)))

let rec first n = function x :: rest when n > 0 -> x :: first (n - 1) rest | _ -> []

(* Whether an operation contradicts what its own transaction had written to the key. *)
let seen_by_itself c t i k =
  let ops = (body c (positive t)).operations in
  match written_by (first i ops) k with
  | None -> false
  | Some s -> List.exists (fun (k', answer) -> k' = k && not (accepts answer s)) (looks (known_keys c.history) (List.nth ops i))

(* --- orders *)

let events order =
  let split = match get "split" order with `Bool b -> b | _ -> malformed "'split' is true or false" in
  let event e =
    if not split then [ (txn (`Int e), Begin); (txn (`Int e), Commit) ]
    else [ (positive ((e / 2) + 1), if e mod 2 = 0 then Begin else Commit) ]
  in
  (split, List.concat_map (fun e -> event (index e)) (list (get "events" order)))

(* Of each read the source that is named, or else the last before it in the order that left what was read. *)
let sourced c order =
  let named = Hashtbl.create 10 in
  let given = match find "sources" order with Some l -> list l | None -> [] in
  List.iter (fun s -> Hashtbl.replace named (index (get "op" s), key_of (get "key" s)) (source (get "source" s))) given;
  let used = Hashtbl.create 10 in
  let last = Hashtbl.create 1000 and clocks = Hashtbl.create 1000 and in_session = Hashtbl.create 100 in
  let choose t x =
    let op = Hashtbl.find c.operation_of (int_of_positive t, int_of_nat x.place) in
    match (Hashtbl.find_opt named (op, x.of_key), x.stated) with
    | Some s, _ -> Hashtbl.replace used (op, x.of_key) (); s
    | None, Some s -> s
    | None, None -> (
        let shown = match x.told with Is v -> Some v | IsAbsent -> Some None | IsNot _ | IsPresent -> None in
        match shown with
        | Some v -> Hashtbl.find_opt last (x.of_key, v)
        | None -> refused "an operation without its source")
  in
  let thread t b = if b.status = Committed then XO b.session else XI t in
  let add (chosen, clock_of) (n, t) =
    let b = body c t in
    let sources = List.map (choose t) (outside_of c t) in
    let clock = Hashtbl.create 8 in
    let raise_to th p = match Hashtbl.find_opt clock th with Some q when q >= p -> () | _ -> Hashtbl.replace clock th p in
    let saw u =
      match Hashtbl.find_opt clocks u with
      | None -> ()
      | Some (at, (theirs : (positive, int) Hashtbl.t)) ->
          raise_to (thread u (body c u)) at;
          Hashtbl.iter raise_to theirs
    in
    List.iter (Option.iter saw) sources;
    let before = Option.value ~default:[] (Hashtbl.find_opt in_session b.session) in
    Option.iter saw (List.find_opt (fun u -> int_of_positive u < int_of_positive t) before);
    Hashtbl.replace clocks t ((2 * n) + 2, clock);
    if b.status = Committed then Hashtbl.replace in_session b.session (t :: before);
    let leave (k, state) =
      let values = match state with Holds v -> [ v ] | Removed v -> [ None; v ] in
      List.iter (fun v -> Hashtbl.replace last (k, v) t) values
    in
    Option.iter (fun d -> List.iter leave (PM.elements d.left)) (PM.find t c.prepared.looked_up.digests);
    let as_map = Hashtbl.fold (fun th p m -> PM.add th (positive p) m) clock PM.empty in
    (PM.add t sources chosen, PM.add t as_map clock_of)
  in
  let co = List.map txn (list (get "events" order)) in
  let chosen, clock_of = List.fold_left add (PM.empty, PM.empty) (List.mapi (fun n t -> (n, t)) co) in
  let in_order op = match Hashtbl.find_opt c.home op with Some (t, _) -> List.mem (positive t) co | None -> false in
  let unused s = in_order (index (get "op" s)) && not (Hashtbl.mem used (index (get "op" s), key_of (get "key" s))) in
  let in_use = List.filter (fun s -> in_order (index (get "op" s))) given in
  if List.exists unused given || Hashtbl.length used < List.length in_use then refused "a source of nothing that was seen";
  Sourced (co, chosen, clock_of)

(* --- refutations *)

let literal c = function
  | `List [ a; b ] -> Order (txn a, txn b)
  | l when find "block" l <> None -> unsupported "blocks of lists"
  | l -> (
      let holds = find "holds" l <> Some (`Bool false) in
      match find "effect" l with
      | Some t -> Effect (txn t, holds)
      | None ->
          let t = txn (get "reader" l) in
          Seen (t, key_of (get "key" l), source (get "source" l), place_in c t (find "op" l), holds))

let literals c json = List.map (literal c) (list json)

(* What the level is to a refutation: whether it is stated over a commit order, and whether a transaction sees one state of a key, so
   that what it saw need not name the operation. *)
type kind = { weak : bool; one_state : bool }

let about_reads c kind json =
  let clause = literals c json in
  if not kind.one_state then
    List.iter (function Seen (_, _, _, None, _) -> refused "an operation is missing" | _ -> ()) clause;
  clause

(* The operation of an edge. One of another transaction is none, and then the read has to be given. *)
let place_or_found c given pick t k s json =
  let is_given = List.exists (function Seen (t', k', s', _, true) -> t' = t && k' = k && s' = s | _ -> false) given in
  match find "op" json with
  | Some op -> (
      match Hashtbl.find_opt c.home (index op) with
      | Some (owner, i) when positive owner = t && (is_given || tells c t (nat i) k) -> Some (nat i)
      | _ -> None)
  | None -> find_place c given pick t k s

let hop c given edge =
  let s = txn (get "from" edge) and t = txn (get "to" edge) in
  match string (get "kind" edge) with
  | "read-dependency" | "read-from" ->
      let k = key_of (get "key" edge) in
      HopRead (s, t, k, place_or_found c given `First t k (Some s) edge)
  | "session" -> HopSession (s, t)
  | kind -> refused "a path with an edge %s" kind

let side edge name = match string (get name edge) with "begin" -> Begin | "commit" -> Commit | _ -> malformed "expected begin or commit"

let edge c given json =
  let s = txn (get "from" json) and t = txn (get "to" json) in
  match string (get "kind" json) with
  | "read-dependency" | "read-from" ->
      if find "via" json <> None then unsupported "read dependencies of ranges";
      let k = key_of (get "key" json) in
      Reads (s, t, k, place_or_found c given `First t k (Some s) json)
  | "session" -> InSession (s, t)
  | "real-time" -> InTime (s, side json "leaves", t, side json "enters")
  | "write-dependency" | "write-order" -> Overwrites (s, t, key_of (get "key" json))
  | "anti-dependency" | "anti" ->
      let k = key_of (get "key" json) and via = source (get "via" json) in
      Misses (s, t, k, via, place_or_found c given `First s k via json)
  | "forced" ->
      let reader = txn (get "reader" json) and k = key_of (get "key" json) in
      let i = place_or_found c given `Last reader k (Some t) json in
      Forced (s, t, reader, k, i, List.map (hop c given) (list (get "path" json)))
  | kind -> malformed "unknown kind of edge '%s'" kind

let is_anti json = List.mem (get "kind" json) [ `String "anti-dependency"; `String "anti" ]

let rec rotate = function e :: rest when not (is_anti e) -> rotate (rest @ [ e ]) | edges -> edges

(* At the weak levels an anti-dependency is of the initial state, and the other edges show that its writer was seen. *)
let cycle c kind json =
  let edges = list (get "cycle" json) in
  let given = match find "given" json with Some g -> about_reads c kind g | None -> [] in
  match if kind.weak && List.exists is_anti edges then rotate edges else [] with
  | [] -> Cycle (List.map (edge c given) edges, given)
  | anti :: path ->
      let t = txn (get "from" anti) and k = key_of (get "key" anti) in
      if get "via" anti <> `Null then refused "an anti-dependency of a version";
      let i = place_or_found c given `Last t k None anti in
      Unseen (txn (get "to" anti), t, k, i, List.map (hop c given) path, given)

let step c kind json =
  match json with
  | `Assoc fields when List.mem_assoc "cycle" fields -> cycle c kind json
  | `Assoc fields when List.mem_assoc "fact" fields -> (
      if find "known_order" json = None then unsupported "facts that lists show";
      match literals c (get "fact" json) with
      | [ Order (a, b) ] -> Fact (a, b, nat (index (get "known_order" json)))
      | _ -> malformed "a fact is one pair")
  | `Assoc fields when List.mem_assoc "sources" fields ->
      let t, i = place c (get "operation" json) and k = key_of (get "key" json) in
      let clause = about_reads c kind (get "sources" json) in
      if seen_by_itself c t i k then Inconsistent (positive t, clause) else Explains (positive t, nat i, k, clause)
  | `Assoc fields when List.mem_assoc "effect" fields -> (
      let clause = literals c (get "effect" json) in
      let negated = function Seen (_, _, Some _, _, false) -> true | _ -> false in
      match List.find_opt negated clause with
      | Some (Seen (t, k, Some s, i, _)) -> TookEffect (t, k, s, i, clause)
      | _ -> refused "a step that does not say what was seen")
  | `Assoc fields when List.mem_assoc "derived" fields ->
      Derived (literals c (get "derived" json), List.map (fun n -> positive (index n + 1)) (list (get "hints" json)))
  | `Assoc fields when List.mem_assoc "blocks" fields -> unsupported "blocks of lists"
  | `Assoc fields when List.mem_assoc "aggregate" fields -> unsupported "aggregates"
  | _ -> malformed "a step of an unknown kind"

(* --- two operations that contradict each other *)

(* The writes, from before place [n] of the transaction, from it, and from behind it, of this key. *)
let writes_of_key ops k =
  let write i o = match installs o with Some (k', s) when k' = k -> Some (i, s) | _ -> None in
  List.filter_map Fun.id (List.mapi write ops)

let version = function Holds v | Removed v -> v

(* Two reads of a key that no one state of it explains: a removed key shows null and its tombstone. *)
let differs c t i j k seen =
  let ops = (body c (positive t)).operations in
  let tombstone v =
    List.exists (fun (_, b) -> List.exists (fun (_, s) -> s = Removed v) (writes_of_key b.operations k)) (PM.elements c.history.transactions)
  in
  let stated n = match List.nth ops n with Read (_, _, s) -> s | _ -> None in
  let other_source = match (stated i, stated j) with Some a, Some b -> a <> b | _ -> false in
  let shown = function
    | k', Is v when k' = k ->
        let removed = (v = None && tombstone (Option.get seen)) || (seen = Some None && tombstone v) in
        Some v <> seen && not removed
    | _ -> false
  in
  seen <> None && (other_source || List.exists shown (looks (known_keys c.history) (List.nth ops j)))

let sources c t x = sources_of c.history c.prepared.looked_up (positive t) x

(* Whether the other operation is what the name of the anomaly says it is. The refutation does not need it, only who reads it. *)
let is_named c anomaly (t, i) other (k, answer) =
  let mine = writes_of_key (body c (positive t)).operations k in
  let everybody = List.map (fun (u, b) -> (int_of_positive u, b, writes_of_key b.operations k)) (PM.elements c.history.transactions) in
  let seen = match answer with Is v -> Some v | _ -> None in
  let before = List.filter (fun (j, _) -> j < i) mine in
  let wrote_before = List.exists (fun (_, s) -> Some (version s) = seen) before in
  let shown_by s = accepts answer s in
  let others_write f =
    match other with
    | Some (u, j) when u <> t -> (
        match List.find_opt (fun (v, _, _) -> v = u) everybody with
        | Some (_, b, writes) -> List.exists (fun (n, s) -> n = j && shown_by s) writes && f b (List.exists (fun (n, _) -> n > j) writes)
        | None -> false)
    | _ -> false
  in
  (* Nobody's write explains it, nor does the initial state, whatever else the transaction saw of the key. *)
  let unexplained =
    before <> [] || List.for_all (fun x -> int_of_nat x.place <> i || x.of_key <> k || sources c t x = []) (outside_of c (positive t))
  in
  let own_write_before = match other with Some (u, j) -> u = t && List.mem_assoc j before | None -> false in
  (unexplained || anomaly = "non-repeatable-read")
  &&
  match anomaly with
  | "thin-air-read" ->
      other = None && not (List.exists (fun (u, _, writes) -> u <> t && List.exists (fun (_, s) -> shown_by s) writes) everybody)
      && (before = []) && seen <> None
  | "aborted-read" -> others_write (fun b _ -> b.status = Aborted)
  | "intermediate-read" -> others_write (fun _ overwritten -> overwritten)
  | "future-read" ->
      let writes_it j = match List.assoc_opt j mine with Some s -> Some (version s) = seen | None -> false in
      (match other with Some (u, j) -> u = t && j >= i && writes_it j | None -> false)
  | "not-my-last-write" -> own_write_before && wrote_before
  | "not-my-own-write" -> own_write_before && not wrote_before
  | "non-repeatable-read" -> (match other with Some (u, j) -> u = t && j < i && before = [] && differs c t i j k seen | None -> false)
  | anomaly -> unsupported "a bad read '%s'" anomaly

(* All who certainly read the value before they wrote the key. The page counts everybody who left the value behind; the checker
   only those who may have been seen. *)
let overdrawn c t i =
  match List.nth (body c (positive t)).operations i with
  | Read (k, (Some _ as v), _) | CompareAndSet (k, (Some _ as v), _, true) ->
      let reader (t, (d : digest)) =
        let seen x = x.of_key = k && (match x.told with Is _ -> true | _ -> false) in
        match List.rev (List.filter seen d.outside) with
        | x :: _ when x.told = Is v && (body c t).status = Committed && PM.find k d.left <> None -> Some (t, x.place)
        | _ -> None
      in
      let readers = List.filter_map reader (PM.elements c.prepared.looked_up.digests) in
      let leaves (t, (d : digest)) =
        (body c t).status <> Aborted && match PM.find k d.left with Some (Holds w | Removed w) -> w = v | None -> false
      in
      let initial = if initial_value c.history k = v then 1 else 0 in
      let there = initial + List.length (List.filter leaves (PM.elements c.prepared.looked_up.digests)) in
      if List.length readers <= there then refused "it was there as often as it was overwritten";
      [ Overdrawn (k, readers) ]
  | _ -> refused "no read of a value"

(* What was read explains nobody, or is not the transaction's own write: one of these refutations shows it. *)
let bad_read c json =
  let t, i = place c (get "read" json) in
  if get "anomaly" json = `String "lost-update" then [ overdrawn c t i ] else
  let other = match get "other" json with `Null -> None | op -> Some (place c op) in
  let ops = (body c (positive t)).operations in
  let told = looks (known_keys c.history) (List.nth ops i) in
  let named = List.filter (is_named c (string (get "anomaly" json)) (t, i) other) told in
  let refutation (k, answer) =
    match written_by (first i ops) k with
    | Some s when accepts answer s -> refused "a read of the transaction's own write"
    | Some _ -> [ Inconsistent (positive t, []) ]
    | None -> [ Explains (positive t, nat i, k, []) ]
  in
  List.map refutation named
