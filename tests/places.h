// Where the tests find what they look at: absolute paths, without a slash at the end. Defined for
// each build by cmake/places.cc.in. No strings: constants of tests are made of them before main.
#pragma once

namespace assay::internal::places {

extern const char* const kSource;   // the root of the tree
extern const char* const kBuild;    // the build tree
extern const char* const kProgram;  // the assay of this build

}  // namespace assay::internal::places
