(ns store-test
  (:require [assay.checker :as assay]
            [clojure.test :refer [deftest is]]
            [jepsen.checker :as checker]
            [store]))

(defn history
  "As Jepsen records it: two clients append to x at once, and a third reads what is left."
  []
  (let [store (atom {})
        time (atom 0)
        op (fn [type process value] {:type type, :process process, :f :txn, :value value, :time (swap! time inc)})
        begin (fn [process v] (op :invoke process [[:r :x nil] [:append :x v]]))
        end (fn [process v txn]
              (let [ended (store/commit! (store/append txn :x v))]
                (op (if (= ended :committed) :ok :fail) process [[:r :x (store/read-list txn :x)] [:append :x v]])))
        invoked [(begin 0 1) (begin 1 2)]
        both [(store/transaction store) (store/transaction store)]
        ended [(end 0 1 (both 0)) (end 1 2 (both 1))]]
    (concat invoked ended
            [(op :invoke 2 [[:r :x nil]])
             (op :ok 2 [[:r :x (store/read-list (store/transaction store) :x)]])])))

(deftest appends
  (let [found (checker/check (assay/checker "serializable") {} (history) {})]
    (is (true? (:valid? found)) (str found))))
