-- An update that is lost: T1 writes what it computed of a value that T2 has overwritten since.
-- Source: https://github.com/pingcap/tidb/issues/41680, in SQL of our own.
-- Shows on PostgreSQL at read committed, and on MariaDB up to repeatable read; with innodb_snapshot_isolation=ON it is refused.
create table t (k int primary key, v int);
insert into t values (0, 0);

/* s1 */ begin;
/* s1 */ select v from t where k = 0;
/* s2 */ begin;
/* s2 */ update t set v = 2 where k = 0;
/* s2 */ commit;
/* s1 */ update t set v = 1 where k = 0;
/* s1 */ commit;
/* s3 */ select v from t where k = 0;
