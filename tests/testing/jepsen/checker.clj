(ns jepsen.checker
  "The protocol that checkers of Jepsen 0.3 implement, which cannot be had here.")

(defprotocol Checker
  (check [checker test history opts]))
