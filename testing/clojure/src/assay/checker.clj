(ns assay.checker
  "A checker for Jepsen that has assay decide levels: (assay.checker/checker \"strict-serializable\").
  Its result has the keys of Elle's. Needs org.clojure/data.json, and assay on the PATH or in ASSAY_PROGRAM."
  (:require [clojure.data.json :as json]
            [clojure.java.io :as io]
            [clojure.java.shell :refer [sh]]
            [jepsen.checker :as jepsen])
  (:import (java.io File)))

(defn- result [exit {:strs [levels]}]
  (let [violated (filter #(= "violated" (get (val %) "verdict")) levels)
        weakest (set (mapcat #(get-in (val %) ["meaning" "weakest_broken"]) violated))
        anomalies (group-by #(keyword (get (val %) "anomaly")) violated)]
    {:valid? (case (int exit) 0 true 1 false 2 :unknown)
     :anomaly-types (vec (sort (keys anomalies)))
     :anomalies (into {} (for [[anomaly found] anomalies]
                           [anomaly (vec (distinct (map #(get (val %) "explanation") found)))]))
     :not (set (map keyword weakest))
     :also-not (set (map keyword (remove weakest (keys violated))))
     :undecided (into {} (for [[level {:strs [verdict reason]}] levels :when (= "unknown" verdict)] [(keyword level) reason]))}))

(defn checker [& levels]
  (assert (seq levels) "expected the levels to decide")
  (reify jepsen/Checker
    (check [_ _ history _]
      (let [file (File/createTempFile "history" ".edn")]
        (try
          (with-open [out (io/writer file)]
            (binding [*out* out, *print-length* nil, *print-level* nil]
              (run! #(prn (into {} %)) history)))
          (let [program (or (System/getenv "ASSAY_PROGRAM") "assay")
                {:keys [exit out err]} (apply sh program "check" "--from" "jepsen" "--json" (str file) (mapcat #(list "--level" %) levels))]
            (when-not (<= 0 exit 2) (throw (ex-info (str "assay decided nothing: " err) {:exit exit})))
            (result exit (json/read-str out)))
          (finally (.delete file)))))))
