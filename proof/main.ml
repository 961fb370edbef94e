(* assay-proved CERTIFICATE HISTORY: whether each certificate is right, by the checker that is proved. *)
open Checker
open Read_history
open Read_certificate

let levels =
  [
    ("read-committed", ReadCommitted); ("read-atomic", ReadAtomic); ("causal", Causal); ("prefix", Prefix);
    ("adya-si", AdyaSi); ("session-si", SessionSi); ("generalized-si", GeneralizedSi);
    ("strong-session-si", StrongSessionSi); ("strong-si", StrongSi); ("serializable", Serializable);
    ("session-serializable", SessionSerializable); ("strict-serializable", StrictSerializable); ("linearizable", Linearizable);
  ]

let is_weak level = List.mem level [ ReadCommitted; ReadAtomic; Causal ]

(* Whether the certificate shows its outcome at this level. *)
let judge c certificate =
  let satisfied order =
    let split, events = events order in
    let sourced = lazy (if split then None else try Some (sourced c order) with Refused _ -> None) in
    fun level ->
      check_satisfied c.history c.prepared level (Executed events)
      || is_weak level
         && match Lazy.force sourced with Some claim -> check_satisfied c.history c.prepared level claim | None -> false
  in
  let violated steps level = check_violated c.history c.prepared level steps in
  match (get "outcome" certificate, find "order" certificate, find "bad_read" certificate, find "proof" certificate) with
  | `String "satisfied", Some order, None, None -> satisfied order
  | `String "violated", None, Some read, None ->
      let claims = bad_read c read in
      fun level -> List.exists (fun steps -> violated steps level) claims
  | `String "violated", None, None, Some proof ->
      let steps weak one_state = lazy (List.map (step c { weak; one_state }) (list proof)) in
      let for_reads = steps true false and for_weak = steps true true and for_strong = steps false true in
      let steps_for level = if level = ReadCommitted then for_reads else if is_weak level then for_weak else for_strong in
      fun level -> violated (Lazy.force (steps_for level)) level
  | `String "violated", None, None, None when find "exhausted" certificate <> None -> unsupported "exhausted searches"
  | _ -> malformed "a certificate has no evidence of its outcome"

let answer c certificate name =
  match List.assoc_opt name levels with
  | None -> `Unsupported "the level"
  | Some level -> (
      match judge c certificate with
      | exception Unsupported why -> `Unsupported why
      | exception Refused why -> `Refused why
      | exception (Not_found | Failure _ | Invalid_argument _) -> `Refused "it names what the history has not"
      | claim -> (
          match claim level with
          | true -> `Accepted
          | false -> `Refused "not shown"
          | exception Unsupported why -> `Unsupported why
          | exception Refused why -> `Refused why
          | exception (Not_found | Failure _ | Invalid_argument _) -> `Refused "it names what the history has not"))

let claimed certificate = match get "outcome" certificate with `String "satisfied" -> "satisfied" | _ -> "violated"
let tell n certificate name answer = Printf.printf "%d %s %s: %s\n" n (claimed certificate) name answer

let run certificate_file history_file =
  let channel = open_in history_file in
  let lines = lines channel in
  let file = Yojson.Safe.from_file certificate_file in
  let drift = match find "clock_drift" file with Some n when int64 n > 0L -> integer (int64 n) | None -> Z0 | _ -> malformed "invalid drift of clocks" in
  let certificates = list (get "certificates" file) in
  let names certificate = List.map string (list (get "levels" certificate)) in
  match
    if find "aborted_reads" file <> None then unsupported "reads of aborted transactions";
    let history = history ~drift lines in
    Statements.check history;
    history
  with
  | exception Unsupported why ->
      List.iteri (fun n certificate -> List.iter (fun name -> tell n certificate name ("unsupported: " ^ why)) (names certificate)) certificates;
      4
  | history ->
      let c = context history lines in
      if drift <> Z0 then Printf.printf "under a clock drift of %s ns\n" (Int64.to_string (int64 (get "clock_drift" file)));
      let worst = ref 0 in
      let one n certificate name =
        match answer c certificate name with
        | `Accepted -> tell n certificate name "accepted"
        | `Refused why -> worst := 1; tell n certificate name ("refused: " ^ why)
        | `Unsupported why -> if !worst = 0 then worst := 4; tell n certificate name ("unsupported: " ^ why)
      in
      List.iteri (fun n certificate -> List.iter (one n certificate) (names certificate)) certificates;
      !worst

(* Lists as long as a history are gone through by recursion: the stack may be as large as the system allows. *)
let with_all_the_stack () =
  if Sys.getenv_opt "ASSAY_PROVED_STACK" = None then (
    Unix.putenv "ASSAY_PROVED_STACK" "all";
    let again = [ "sh"; "-c"; {|ulimit -s $(ulimit -H -s); exec "$0" "$@"|}; Sys.executable_name ] in
    Unix.execv "/bin/sh" (Array.of_list (again @ List.tl (Array.to_list Sys.argv))))

let () =
  with_all_the_stack ();
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 22; space_overhead = 400 };
  match Sys.argv with
  | [| _; certificate; history |] -> (
      try exit (run certificate history) with
      | Malformed why | Yojson.Json_error why | Sys_error why | Failure why | Invalid_argument why ->
          prerr_endline ("assay-proved: " ^ why);
          exit 3
      | Refused why | Unsupported why ->
          prerr_endline ("assay-proved: " ^ why);
          exit 4)
  | _ -> prerr_endline "usage: assay-proved CERTIFICATE HISTORY"; exit 3
