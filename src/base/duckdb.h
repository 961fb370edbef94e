// The functions of DuckDB's C interface that assay calls, loaded when needed. They are declared
// here because Debian has no package of its header.
#pragma once

#include <cstdint>

#include "base/client_library.h"

extern "C" {
struct DuckdbResult {
  void* words[6];
};
const char* duckdb_library_version();
int duckdb_open_ext(const char* path, void** database, void* config, char** error);
void duckdb_close(void** database);
int duckdb_connect(void* database, void** connection);
void duckdb_disconnect(void** connection);
int duckdb_prepare(void* connection, const char* sql, void** statement);
const char* duckdb_prepare_error(void* statement);
int duckdb_bind_varchar(void* statement, uint64_t place, const char* text);
int duckdb_execute_prepared(void* statement, DuckdbResult* result);
// The rows come as duckdb_fetch_chunk asks for them.
int duckdb_execute_prepared_streaming(void* statement, DuckdbResult* result);
void* duckdb_fetch_chunk(DuckdbResult result);  // null: no more rows
uint64_t duckdb_data_chunk_get_size(void* chunk);
void* duckdb_data_chunk_get_vector(void* chunk, uint64_t column);
void* duckdb_vector_get_data(void* vector);
uint64_t* duckdb_vector_get_validity(void* vector);  // a bit for each row; null: all are valid
void duckdb_destroy_data_chunk(void** chunk);
int duckdb_column_type(DuckdbResult* result, uint64_t column);
void duckdb_destroy_prepare(void** statement);
const char* duckdb_result_error(DuckdbResult* result);
int duckdb_result_return_type(DuckdbResult result);  // 3: rows for the user
uint64_t duckdb_column_count(DuckdbResult* result);
uint64_t duckdb_row_count(DuckdbResult* result);
uint64_t duckdb_rows_changed(DuckdbResult* result);
const char* duckdb_column_name(DuckdbResult* result, uint64_t column);
char* duckdb_value_varchar(DuckdbResult* result, uint64_t column, uint64_t row);
void duckdb_destroy_result(DuckdbResult* result);
void duckdb_free(void* text);
}

#define duckdb_library_version ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_library_version)
#define duckdb_open_ext ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_open_ext)
#define duckdb_close ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_close)
#define duckdb_connect ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_connect)
#define duckdb_disconnect ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_disconnect)
#define duckdb_prepare ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_prepare)
#define duckdb_prepare_error ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_prepare_error)
#define duckdb_bind_varchar ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_bind_varchar)
#define duckdb_execute_prepared ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_execute_prepared)
#define duckdb_destroy_prepare ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_destroy_prepare)
#define duckdb_result_error ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_result_error)
#define duckdb_result_return_type ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_result_return_type)
#define duckdb_column_count ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_column_count)
#define duckdb_row_count ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_row_count)
#define duckdb_rows_changed ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_rows_changed)
#define duckdb_column_name ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_column_name)
#define duckdb_value_varchar ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_value_varchar)
#define duckdb_destroy_result ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_destroy_result)
#define duckdb_free ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_free)
#define duckdb_execute_prepared_streaming \
  ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_execute_prepared_streaming)
#define duckdb_fetch_chunk ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_fetch_chunk)
#define duckdb_data_chunk_get_size ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_data_chunk_get_size)
#define duckdb_data_chunk_get_vector ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_data_chunk_get_vector)
#define duckdb_vector_get_data ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_vector_get_data)
#define duckdb_vector_get_validity ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_vector_get_validity)
#define duckdb_destroy_data_chunk ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_destroy_data_chunk)
#define duckdb_column_type ASSAY_CLIENT_FUNCTION(kLibduckdb, duckdb_column_type)
