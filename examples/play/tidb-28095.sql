-- An update that changes nothing is still an update: T1 counts the rows that it set to 10, T2 has set one of them before.
-- Source: https://github.com/pingcap/tidb/issues/28095, in SQL of our own.
-- Shows on PostgreSQL and MariaDB at read committed. At repeatable read T1 misses that row on MariaDB, and that is no anomaly: an
-- update that changes nothing writes nothing there.
create table t (id int primary key, c1 int, c2 int);
insert into t values (0, 0, 0), (1, 1, 1), (2, 2, 2);

/* T1 */ begin;
/* T1 */ select * from t;
/* T2 */ update t set c1 = 10 where id = 1;
/* T1 */ update t set c1 = 10;
/* T1 */ select * from t where c1 = 10;
/* T1 */ commit;
