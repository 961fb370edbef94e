#include "assay/assay_c.h"

extern "C" {

int assay_c_version(void) { return ASSAY_C_VERSION; }
const char* assay_version(void) { return ASSAY_VERSION; }

}  // extern "C"
