#include "cli/demo_histories.h"

namespace assay::internal::cli {
namespace {

using enum Anomaly;

constexpr DemoHistory kDemos[] = {
    {thin_air_read,
     "initial 0\n"
     "s1: { w(x,1) }\n"
     "s2: { r(x,7) }\n"},
    {aborted_read,
     "initial 0\n"
     "s1: { w(x,1) }!\n"
     "s2: { r(x,1) }\n"},
    {future_read,
     "initial 0\n"
     "s1: { r(x,1) w(x,1) }\n"},
    {not_my_last_write,
     "initial 0\n"
     "s1: { w(x,1) w(x,2) r(x,1) }\n"},
    {not_my_own_write,
     "initial 0\n"
     "s1: { w(x,1) }\n"
     "s2: { w(x,2) r(x,1) }\n"},
    {intermediate_read,
     "initial 0\n"
     "s1: { w(x,1) w(x,2) }\n"
     "s2: { r(x,1) }\n"},
    {non_repeatable_read,
     "initial 0\n"
     "s1: { w(x,1) }\n"
     "s2: { r(x,0) r(x,1) }\n"},
    {g0,
     "s1: { a(x,1) a(y,1) }\n"
     "s2: { a(x,2) a(y,2) }\n"
     "s3: { r(x,[1,2]) }\n"
     "s4: { r(y,[2,1]) }\n"},
    {g1c,
     "initial 0\n"
     "s1: { r(x,1) w(y,1) }\n"
     "s2: { r(y,1) w(x,1) }\n"},
    {non_monotonic_read,
     "initial 0\n"
     "s1: { w(x,1) }\n"
     "s2: { r(x,1) w(x,2) w(y,2) }\n"
     "s3: { r(y,2) r(x,1) }\n"},
    {fractured_read,
     "initial 0\n"
     "s1: { w(x,1) w(y,1) }\n"
     "s2: { r(y,0) r(x,1) }\n"},
    {session_guarantee_violation,
     "initial 0\n"
     "s1: { w(x,1) }\n"
     "s2: { r(x,1) w(x,2) } { r(x,1) }\n"},
    {causality_violation,
     "initial 0\n"
     "s1: { w(x,1) }\n"
     "s2: { r(x,1) w(y,1) }\n"
     "s3: { r(y,1) r(x,0) }\n"},
    {long_fork,
     "initial 0\n"
     "s1: { w(x,1) }\n"
     "s2: { w(y,1) }\n"
     "s3: { r(x,1) r(y,0) }\n"
     "s4: { r(y,1) r(x,0) }\n"},
    {lost_update,
     "initial 0\n"
     "s1: { w(x,1) }\n"
     "s2: { r(x,1) w(x,2) }\n"
     "s3: { r(x,1) w(x,3) }\n"},
    {g_single,
     "initial 0\n"
     "s1: { r(x,0) w(y,1) }\n"
     "s2: { w(x,1) w(y,2) }\n"
     "s3: { r(y,2) } { r(y,1) }\n"},
    {g_nonadjacent,
     "s1: { r(x,null) a(m,2) }\n"
     "s2: { w(x,1) a(l,1) }\n"
     "s3: { r(y,null) a(l,2) }\n"
     "s4: { w(y,1) a(m,1) }\n"
     "s5: { r(l,[1,2]) r(m,[1,2]) }\n"},
    {write_skew,
     "initial 0\n"
     "s1: { r(x,0) r(y,0) w(x,1) }\n"
     "s2: { r(x,0) r(y,0) w(y,1) }\n"},
    {g2_item,
     "initial 0\n"
     "s1: { r(x,0) w(y,1) }\n"
     "s2: { r(y,0) w(z,1) }\n"
     "s3: { r(z,0) w(x,1) }\n"},
    {g2,
     "s1: { range(a..f,[]) w(b,1) }\n"
     "s2: { range(a..f,[]) w(c,1) }\n"},
    {phantom,
     "s1: { w(b,2) }\n"
     "s2: { range(a..f,[]) range(a..f,[b=2]) }\n"},
    {result_set_mismatch, "s1: { w(a,1) w(b,2) range(a..f,[a=1]) }\n"},
    {real_time_violation,
     "initial 0\n"
     "s1: @[0,10] { w(x,1) }\n"
     "s2: @[20,30] { r(x,0) }\n"},
    {duplicate_write,
     "initial 0\n"
     "s1: { w(x,1) }\n"
     "s2: { w(x,1) }\n"
     "s3: { r(x,1) }\n"},
};

}  // namespace

std::span<const DemoHistory> demo_histories() { return kDemos; }

}  // namespace assay::internal::cli
