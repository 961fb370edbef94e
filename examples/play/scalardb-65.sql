-- A write skew of rows that are not there: both sum up an empty table and each adds a row.
-- Source: https://github.com/scalar-labs/scalardb/issues/65, in SQL of our own.
-- Shows on PostgreSQL and MariaDB up to repeatable read.
create table t (id int primary key, v int);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ select sum(v) from t;
/* T2 */ select sum(v) from t;
/* T1 */ insert into t values (1, 1);
/* T2 */ insert into t values (2, 1);
/* T1 */ commit;
/* T2 */ commit;
