(ns store
  "Lists in memory. A transaction reads and appends on a snapshot, and then puts what it changed in place.")

;; Whether a commit is refused where a list that it changed was changed meanwhile.
(def refuses? false)

(defn transaction [store] {:store store, :snapshot @store, :changed {}})

(defn read-list [txn k] (get (merge (:snapshot txn) (:changed txn)) k []))

(defn append [txn k v] (assoc-in txn [:changed k] (conj (read-list txn k) v)))

(defn commit! [{:keys [store snapshot changed]}]
  (loop []
    (let [now @store]
      (cond
        (and refuses? (some #(not= (get snapshot %) (get now %)) (keys changed))) :refused
        (compare-and-set! store now (merge now changed)) :committed
        :else (recur)))))
