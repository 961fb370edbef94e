// The rules of the walk over the lattice (walk.cc): ways to decide levels. A rule says which inputs
// it needs, which outcomes it may reach and its cost, and adds its findings to the case. No rule
// knows another one.
#pragma once

#include "levels/case.h"

namespace assay::internal {

namespace rules {

// Whether the rule can decide the level now. Until the rule is applied to the level, this is called
// again whenever more is known.
using Needs = bool(Case& c, const LevelInfo& level);
using Decides = void(Case& c, const LevelInfo& level);

// read_rules.cc
Needs states_an_order, has_unexplained_read, may_have_impossible_aggregate, has_open_reads;
Decides replay_stated_order, refute_by_unexplained_read, refute_by_aggregate, refute_by_sourceless,
    refute_by_counting;
// single_operation_rules.cc
Needs may_go_key_by_key, has_single_operations_open;
Decides decide_key_by_key, take_from_below;
// strong_rules.cc
Needs may_ask_the_clock, may_replay, is_searched_early, is_searched, is_searched_without_time;
Decides refute_by_the_clock, accept_by_replaying, decide_by_search, refute_without_time;
// statement_rules.cc
Needs has_statements;
Decides decide_by_statements;
// by_reads_rules.cc
Needs is_weak, may_take_nearest_sources, follows_from_above, may_state_versions, is_adya,
    looks_at_dirty_reads;
Decides decide_weak, take_nearest_sources, take_from_above, accept_order_of_versions, decide_adya,
    decide_with_dirty_reads;
// aggregate_rules.cc
Needs may_have_whole_order;
Decides accept_by_whole_order;
// mixed.cc
Needs declares_levels;
Decides decide_declared;
// defined.cc
Needs is_defined;
Decides decide_defined;

}  // namespace rules

// Used by more than one of these files.

// Why a level of real time cannot be called satisfied.
Unknown lacks_times();

// Refutes if an open read has no possible source left.
void refute_sourceless(Case& c);
// The judgement of the engine on a level that an order decides; aggregates are left as they are.
Judgement search_order(Case& c, const LevelInfo& level);
// Whether the order that was found explains the aggregates; at Adya's levels, together with what
// each operation saw along it. If not, decides what becomes of the order's levels.
bool explains_aggregates(Case& c, const Certificate& certificate);
void leave_aggregates_open(Case& c, const Certificate& certificate);

}  // namespace assay::internal
