-- A row that no state had: t3 updates a row that t1 has changed since its snapshot, and then sees the columns of both.
-- Source: https://bugs.mysql.com/bug.php?id=114389, in SQL of our own.
-- Shows as a lost update on PostgreSQL at read committed, and on MariaDB up to repeatable read.
-- Refused with innodb_snapshot_isolation=ON.
create table t (id int primary key, k int, b int, c int);
insert into t values (8, 44, 1, 2);

/* t1 */ begin;
/* t2 */ begin;
/* t2 */ update t set b = 20, c = 30;
/* t2 */ commit;
/* t3 */ begin;
/* t3 */ select id, b, c from t;
/* t1 */ update t set k = 40 where k = 44;
/* t1 */ commit;
/* t3 */ update t set b = 88, c = 99;
/* t3 */ select id, k, b, c from t;
/* t3 */ commit;
