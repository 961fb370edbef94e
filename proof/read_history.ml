(* Reads a history: docs/formats/assay.md, as far as History.v knows it.

   This file is trusted. What it does not know it refuses as unsupported, and it
   decides nothing: keys and values become numbers, lines become transactions. *)
open Checker

exception Unsupported of string
exception Malformed of string

let unsupported fmt = Printf.ksprintf (fun s -> raise (Unsupported s)) fmt
let malformed fmt = Printf.ksprintf (fun s -> raise (Malformed s)) fmt

let rec positive n =
  if n = 1 then XH else if n land 1 = 1 then XI (positive (n lsr 1)) else XO (positive (n lsr 1))

(* Of 64 bits; the magnitude of the least is read as unsigned. *)
let integer n =
  let rec unsigned n =
    let half = Int64.shift_right_logical n 1 in
    if n = 1L then XH else if Int64.logand n 1L = 1L then XI (unsigned half) else XO (unsigned half)
  in
  if n = 0L then Z0 else if n > 0L then Zpos (unsigned n) else Zneg (unsigned (Int64.neg n))

let int64 = function
  | `Int n -> Int64.of_int n
  | `Intlit s -> (try Int64.of_string s with Failure _ -> malformed "%s has more than 64 bits" s)
  | _ -> malformed "a whole number is expected"

(* Two values are equal if and only if these texts are. *)
let rec text = function
  | (`Int _ | `Intlit _) as n -> "i" ^ Int64.to_string (int64 n)
  | `String s -> Printf.sprintf "s%d:%s" (String.length s) s
  | `Null -> "null"
  | `Bool b -> string_of_bool b
  | `Assoc columns ->
      let columns = List.sort compare (List.map (fun (name, x) -> (name, text x)) columns) in
      "{" ^ String.concat "," (List.map (fun (name, x) -> text (`String name) ^ x) columns) ^ "}"
  | `Float _ -> unsupported "a number with a fraction"
  | _ -> unsupported "lists"

let field name line = match List.assoc_opt name line with Some `Null | None -> None | found -> found

let numbered = Hashtbl.create 1000

let number kind json =
  let name = (kind, text json) in
  match Hashtbl.find_opt numbered name with
  | Some n -> n
  | None ->
      let n = positive (Hashtbl.length numbered + 1) in
      Hashtbl.add numbered name n;
      n

let value = function `Null -> None | json -> Some (number "value" json)

(* Keys are numbered in their order, so that ranges are ranges of numbers: integers by value, before texts by bytes. *)
let key_order a b =
  match (a, b) with
  | `String a, `String b -> compare a b
  | `String _, _ -> 1
  | _, `String _ -> -1
  | a, b -> Int64.compare (int64 a) (int64 b)

let check_key = function
  | (`Int _ | `Intlit _ | `String _) as key -> key
  | _ -> malformed "a key is an integer or a string"

let keys_of_operation = function
  | `List (`String "range" :: low :: high :: [ `List rows ]) ->
      List.filter (fun key -> key <> `Null) [ low; high ]
      @ List.map (function `List (key :: _) -> key | _ -> malformed "a row is [key, value]") rows
  | `List (`String ("r" | "w" | "d" | "cas" | "insert") :: key :: _) -> [ key ]
  | `List (`String name :: _) -> unsupported "the operation '%s'" name
  | _ -> malformed "an operation is an array that begins with its name"

let operations line = match field "ops" line with Some (`List ops) -> ops | _ -> malformed "'ops' is an array"

let keys_of_line line =
  let own = match field "key" line with Some key -> [ key ] | None -> [] in
  own @ if List.mem_assoc "ops" line then List.concat_map keys_of_operation (operations line) else []

let key_numbers = Hashtbl.create 1000

let number_keys lines =
  let keys = List.map check_key (List.concat_map keys_of_line lines) in
  List.iteri (fun i key -> Hashtbl.replace key_numbers (text key) (positive (i + 1))) (List.sort_uniq key_order keys)

let key json = Hashtbl.find key_numbers (text json)

(* Transactions are named by their places in the file, from 1. *)
let place_of_name : (string, positive) Hashtbl.t = Hashtbl.create 1000
let name_twice = ref false

let named json =
  if !name_twice then malformed "two transactions have one name";
  let name = match json with `String s -> s | json -> Int64.to_string (int64 json) in
  match Hashtbl.find_opt place_of_name name with Some t -> t | None -> malformed "no transaction is named %s" name

let stated = function
  | [] -> None
  | [ `Assoc [ ("from", `Null) ] ] -> Some None
  | [ `Assoc [ ("from", name) ] ] -> Some (Some (named name))
  | _ -> malformed "a read ends in its source"

let operation = function
  | `List (`String "r" :: k :: v :: rest) -> Read (key k, value v, stated rest)
  | `List [ `String "w"; k; v ] -> Write (key k, value v)
  | `List [ `String "d"; k; v ] -> Delete (key k, value v)
  | `List [ `String "cas"; k; v; w; `Bool ok ] -> CompareAndSet (key k, value v, value w, ok)
  | `List [ `String "insert"; k; v; `Bool ok ] -> Insert (key k, value v, ok)
  | `List [ `String "range"; low; high; `List rows ] ->
      let bound = function `Null -> None | k -> Some (key k) in
      let row = function `List [ k; v ] -> (key k, value v) | _ -> malformed "a row is [key, value]" in
      let rows = List.map row rows in
      let keys = List.map fst rows in
      if List.length (List.sort_uniq compare keys) < List.length keys then unsupported "a range with a key twice";
      if not (List.for_all (within (bound low) (bound high)) keys) then unsupported "a range with a row outside of its bounds";
      Range (bound low, bound high, rows)
  | _ -> malformed "an operation has the wrong number of parts"

let interval = function
  | None -> { request = None; response = None }
  | Some (`List [ request; response ]) ->
      { request = Some (integer (int64 request)); response = (match response with `Null -> None | r -> Some (integer (int64 r))) }
  | Some moment ->
      let at = Some (integer (int64 moment)) in
      { request = at; response = at }

let transaction line =
  let status =
    match field "status" line with
    | None | Some (`String "committed") -> Committed
    | Some (`String "aborted") -> Aborted
    | Some (`String ("unknown" | "pending")) -> Unknown
    | _ -> malformed "unknown status"
  in
  let session = match field "session" line with Some s -> number "session" s | None -> unsupported "initial transactions" in
  let operations = List.map operation (operations line) in
  { session; status; began = interval (field "begin" line); ended = interval (field "end" line); operations }

let version_name = function
  | `Assoc entry ->
      if List.mem_assoc "deleted" entry && not (List.mem_assoc "value" entry) then unsupported "a deletion without its tombstone";
      let v = match List.assoc_opt "value" entry with Some v -> Some (value v) | None -> None in
      OfTransaction ((match field "txn" entry with Some name -> named name | None -> malformed "an entry names no version"), v)
  | v -> Valued (value v)

(* What a header may announce; operations that are not known are refused where they stand. *)
let known_uses = [ "named-versions"; "sources"; "rows"; "pred"; "agg"; "initial"; "undone" ]

(* Fields that say more than History.v knows. *)
let check_line line =
  (match field "uses" line with
  | Some (`List uses) -> if List.exists (function `String u -> not (List.mem u known_uses) | _ -> true) uses then unsupported "'uses'"
  | Some _ -> malformed "'uses' is an array"
  | None -> ());
  let names = List.map fst line in
  if List.length (List.sort_uniq compare names) < List.length names then malformed "a field appears twice";
  if List.mem_assoc "initial" line && List.mem_assoc "ops" line then unsupported "initial transactions";
  if field "undone" line <> None then unsupported "savepoints";
  if field "absent" line <> None then unsupported "'absent'";
  match field "event" line with
  | Some (`String (("complete" | "settled" | "passed" | "overrun") as event)) -> unsupported "the event '%s'" event
  | _ -> ()

let name_transactions lines =
  let positions = Hashtbl.create 100 in
  List.iteri
    (fun i line ->
      let session = match field "session" line with Some s -> s | None -> unsupported "initial transactions" in
      let position = Option.value ~default:0 (Hashtbl.find_opt positions (text session)) in
      Hashtbl.replace positions (text session) (position + 1);
      let plain = function `String s -> s | json -> Int64.to_string (int64 json) in
      let name = match field "txn" line with Some n -> plain n | None -> Printf.sprintf "%s-%d" (plain session) position in
      if Hashtbl.mem place_of_name name then name_twice := true;
      Hashtbl.replace place_of_name name (positive (i + 1)))
    lines

let history ~drift lines =
  List.iter check_line lines;
  number_keys lines;
  let is_transaction line = List.mem_assoc "ops" line in
  let transactions = List.filter is_transaction lines in
  name_transactions transactions;
  let add (n, all) line = (n + 1, PM.add (positive n) (transaction line) all) in
  let _, numbered = List.fold_left add (1, PM.empty) transactions in
  if !name_twice && List.exists (fun l -> field "status" l = Some (`String "pending")) transactions then
    unsupported "lines that replace others";
  let header = List.find_opt (List.mem_assoc "assay") lines in
  let initial_of_all = match Option.bind header (field "initial") with Some v -> value v | None -> None in
  let keyed name = List.filter (fun l -> List.mem_assoc "key" l && List.mem_assoc name l) lines in
  let own all l = PM.add (key (List.assoc "key" l)) (value (List.assoc "initial" l)) all in
  let order l =
    match List.assoc "order" l with
    | `List entries -> (key (List.assoc "key" l), List.map version_name entries)
    | _ -> malformed "'order' is an array"
  in
  let stated_orders = List.map order (keyed "order") in
  { transactions = numbered; initial_of_all; initial_of_one = List.fold_left own PM.empty (keyed "initial"); stated_orders; drift }

let lines channel =
  let rec read n all =
    match input_line channel with
    | exception End_of_file -> List.rev all
    | line when String.trim line = "" -> read (n + 1) all
    | line -> (
        match Yojson.Safe.from_string line with
        | `Assoc fields -> read (n + 1) (fields :: all)
        | _ -> malformed "line %d is not an object" n
        | exception Yojson.Json_error message -> malformed "line %d: %s" n message)
  in
  read 1 []
