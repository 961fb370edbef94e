(* Refuses histories whose stated orders and sources cannot all be right: assay leaves out what is contradicted, and History.v
   takes every statement as it stands. It looks at the statements one by one, and gives up where a version is named twice. *)
open Checker
open Read_history

(* Who may have taken effect and wrote a value to a key, finally or on the way; and which keys were removed. *)
type writers = { of_value : (positive * positive option, positive) Hashtbl.t; removed : (positive, unit) Hashtbl.t }

let writers h =
  let w = { of_value = Hashtbl.create 1000; removed = Hashtbl.create 10 } in
  let note t op =
    match installs op with
    | Some (k, ((Holds v | Removed v) as state)) ->
        if not (List.mem t (Hashtbl.find_all w.of_value (k, v))) then Hashtbl.add w.of_value (k, v) t;
        if state = Removed v then Hashtbl.replace w.removed k ()
    | None -> ()
  in
  List.iter (fun (t, b) -> if b.status <> Aborted then List.iter (note t) b.operations) (PM.elements h.transactions);
  w

let writes_key k op = match installs op with Some (k', _) -> k' = k | None -> false
let shows_at k v op = match installs op with Some (k', state) -> k' = k && accepts (Is v) state | None -> false

(* An entry of a stated order is of a transaction that may have taken effect and wrote it. *)
let check_entry h w k first entry =
  let right =
    match entry with
    | Valued v when first && v = initial_value h k -> true
    | Valued None -> Hashtbl.mem w.removed k
    | Valued v -> Hashtbl.mem w.of_value (k, v)
    | OfTransaction (t, Some v) -> List.mem t (Hashtbl.find_all w.of_value (k, v))
    | OfTransaction (t, None) -> (
        match PM.find t h.transactions with Some b -> b.status <> Aborted && List.exists (writes_key k) b.operations | None -> false)
  in
  if not right then unsupported "an order that names what nobody installed"

(* Lines can contradict each other only where one version is named twice. A value that several wrote names none. *)
let check_once w orders =
  let seen = Hashtbl.create 100 and forms = Hashtbl.create 100 in
  let note k entry =
    let names = match entry with Valued v -> List.length (Hashtbl.find_all w.of_value (k, v)) = 1 | OfTransaction _ -> true in
    let form = match entry with Valued _ -> `By_value | OfTransaction _ -> `By_transaction in
    let other_form = Option.value ~default:form (Hashtbl.find_opt forms k) <> form in
    if names && (Hashtbl.mem seen (k, entry) || other_form) then unsupported "a version that is named twice";
    if names then (
      Hashtbl.replace seen (k, entry) ();
      Hashtbl.replace forms k form)
  in
  List.iter (fun (k, entries) -> List.iter (note k) entries) orders

(* Of a read after a write of its own transaction the source is that; of any other it is the initial state or another transaction,
   which put what was read. *)
let check_read h t before = function
  | Read (k, v, Some stated) ->
      let own = List.exists (writes_key k) before in
      let right =
        match stated with
        | Some s when own -> s = t
        | None -> (not own) && initial_value h k = v
        | Some s -> s <> t && (match PM.find s h.transactions with Some b -> List.exists (shows_at k v) b.operations | None -> false)
      in
      if not right then unsupported "a source that cannot be right"
  | _ -> ()

let check_reads h (t, b) =
  let next before op =
    check_read h t before op;
    op :: before
  in
  if b.status <> Aborted then ignore (List.fold_left next [] b.operations)

let check h =
  if h.stated_orders <> [] then (
    let w = writers h in
    check_once w h.stated_orders;
    List.iter (fun (k, entries) -> List.iteri (fun i entry -> check_entry h w k (i = 0) entry) entries) h.stated_orders);
  List.iter (check_reads h) (PM.elements h.transactions)
