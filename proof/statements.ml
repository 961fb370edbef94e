(* Refuses histories whose stated orders and sources cannot all be right: assay leaves out what is contradicted, and History.v
   takes every statement as it stands. It looks at the statements one by one, and gives up where a version is named twice. *)
open Checker
open Read_history

let installs_at k v op = match installs op with Some (k', (Holds w | Removed w)) -> k' = k && w = v | None -> false
let shows_at k v op = match installs op with Some (k', state) -> k' = k && accepts (Is v) state | None -> false
let removes k op = match installs op with Some (k', Removed _) -> k' = k | _ -> false

(* An entry of a stated order is of a transaction that may have taken effect and wrote it. *)
let check_entry h k first entry =
  let may_count (_, b) = b.status <> Aborted in
  let somebody does = List.exists (fun t -> may_count t && List.exists does (snd t).operations) (PM.elements h.transactions) in
  let of_transaction t does = match PM.find t h.transactions with Some b -> may_count (t, b) && List.exists does b.operations | None -> false in
  let writes_key op = match installs op with Some (k', _) -> k' = k | None -> false in
  let right =
    match entry with
    | Valued v when first && v = initial_value h k -> true
    | Valued None -> somebody (removes k)
    | Valued v -> somebody (installs_at k v)
    | OfTransaction (t, None) -> of_transaction t writes_key
    | OfTransaction (t, Some v) -> of_transaction t (installs_at k v)
  in
  if not right then unsupported "an order that names what nobody installed"

let check_order h (k, entries) = List.iteri (fun i entry -> check_entry h k (i = 0) entry) entries

(* Of a read after a write of its own transaction the source is that; of any other it is the initial state or another transaction,
   which put what was read. *)
let check_read h t before = function
  | Read (k, v, Some stated) ->
      let own = List.exists (fun op -> match installs op with Some (k', _) -> k' = k | None -> false) before in
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

(* Lines can contradict each other only where one version is named twice. *)
let check_once orders =
  let all = List.concat_map (fun (k, entries) -> List.map (fun entry -> (k, entry)) entries) orders in
  let key (k, _) = k and by_value (_, entry) = match entry with Valued _ -> true | OfTransaction _ -> false in
  let mixed = List.exists (fun one -> by_value one && List.exists (fun other -> key one = key other && not (by_value other)) all) all in
  if mixed || List.length (List.sort_uniq compare all) < List.length all then unsupported "a version that is named twice"

let check h =
  check_once h.stated_orders;
  List.iter (check_order h) h.stated_orders;
  List.iter (check_reads h) (PM.elements h.transactions)
