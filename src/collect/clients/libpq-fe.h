// libpq, loaded when it is needed.
#pragma once
#pragma GCC system_header  // #include_next is an extension

#include_next <libpq-fe.h>

#include "collect/client_library.h"

#define PQbackendPID ASSAY_CLIENT_FUNCTION(kLibpq, PQbackendPID)
#define PQclear ASSAY_CLIENT_FUNCTION(kLibpq, PQclear)
#define PQcmdStatus ASSAY_CLIENT_FUNCTION(kLibpq, PQcmdStatus)
#define PQcmdTuples ASSAY_CLIENT_FUNCTION(kLibpq, PQcmdTuples)
#define PQconnectdbParams ASSAY_CLIENT_FUNCTION(kLibpq, PQconnectdbParams)
#define PQconnectionNeedsPassword ASSAY_CLIENT_FUNCTION(kLibpq, PQconnectionNeedsPassword)
#define PQconsumeInput ASSAY_CLIENT_FUNCTION(kLibpq, PQconsumeInput)
#define PQdb ASSAY_CLIENT_FUNCTION(kLibpq, PQdb)
#define PQerrorMessage ASSAY_CLIENT_FUNCTION(kLibpq, PQerrorMessage)
#define PQexec ASSAY_CLIENT_FUNCTION(kLibpq, PQexec)
#define PQfinish ASSAY_CLIENT_FUNCTION(kLibpq, PQfinish)
#define PQflush ASSAY_CLIENT_FUNCTION(kLibpq, PQflush)
#define PQfname ASSAY_CLIENT_FUNCTION(kLibpq, PQfname)
#define PQftype ASSAY_CLIENT_FUNCTION(kLibpq, PQftype)
#define PQgetResult ASSAY_CLIENT_FUNCTION(kLibpq, PQgetResult)
#define PQgetisnull ASSAY_CLIENT_FUNCTION(kLibpq, PQgetisnull)
#define PQgetlength ASSAY_CLIENT_FUNCTION(kLibpq, PQgetlength)
#define PQgetvalue ASSAY_CLIENT_FUNCTION(kLibpq, PQgetvalue)
#define PQhost ASSAY_CLIENT_FUNCTION(kLibpq, PQhost)
#define PQisBusy ASSAY_CLIENT_FUNCTION(kLibpq, PQisBusy)
#define PQnfields ASSAY_CLIENT_FUNCTION(kLibpq, PQnfields)
#define PQntuples ASSAY_CLIENT_FUNCTION(kLibpq, PQntuples)
#define PQport ASSAY_CLIENT_FUNCTION(kLibpq, PQport)
#define PQresultErrorField ASSAY_CLIENT_FUNCTION(kLibpq, PQresultErrorField)
#define PQresultStatus ASSAY_CLIENT_FUNCTION(kLibpq, PQresultStatus)
#define PQsendPrepare ASSAY_CLIENT_FUNCTION(kLibpq, PQsendPrepare)
#define PQsendQuery ASSAY_CLIENT_FUNCTION(kLibpq, PQsendQuery)
#define PQsendQueryPrepared ASSAY_CLIENT_FUNCTION(kLibpq, PQsendQueryPrepared)
#define PQsetNoticeProcessor ASSAY_CLIENT_FUNCTION(kLibpq, PQsetNoticeProcessor)
#define PQsetNoticeReceiver ASSAY_CLIENT_FUNCTION(kLibpq, PQsetNoticeReceiver)
#define PQsetnonblocking ASSAY_CLIENT_FUNCTION(kLibpq, PQsetnonblocking)
#define PQsocket ASSAY_CLIENT_FUNCTION(kLibpq, PQsocket)
#define PQstatus ASSAY_CLIENT_FUNCTION(kLibpq, PQstatus)
#define PQtransactionStatus ASSAY_CLIENT_FUNCTION(kLibpq, PQtransactionStatus)
