// hiredis, loaded when it is needed.
#pragma once
#pragma GCC system_header  // #include_next is an extension

#include_next <hiredis/hiredis.h>

#include "collect/client_library.h"

#define freeReplyObject ASSAY_CLIENT_FUNCTION(kLibhiredis, freeReplyObject)
#define redisCommandArgv ASSAY_CLIENT_FUNCTION(kLibhiredis, redisCommandArgv)
#define redisConnectWithTimeout ASSAY_CLIENT_FUNCTION(kLibhiredis, redisConnectWithTimeout)
#define redisFormatCommandArgv ASSAY_CLIENT_FUNCTION(kLibhiredis, redisFormatCommandArgv)
#define redisFree ASSAY_CLIENT_FUNCTION(kLibhiredis, redisFree)
#define redisFreeCommand ASSAY_CLIENT_FUNCTION(kLibhiredis, redisFreeCommand)
#define redisReaderCreate ASSAY_CLIENT_FUNCTION(kLibhiredis, redisReaderCreate)
#define redisReaderFeed ASSAY_CLIENT_FUNCTION(kLibhiredis, redisReaderFeed)
#define redisReaderFree ASSAY_CLIENT_FUNCTION(kLibhiredis, redisReaderFree)
#define redisReaderGetReply ASSAY_CLIENT_FUNCTION(kLibhiredis, redisReaderGetReply)
#define redisSetTimeout ASSAY_CLIENT_FUNCTION(kLibhiredis, redisSetTimeout)
