-- A count that changes within one transaction.
-- Source: https://github.com/tursodatabase/turso/issues/5420, in SQL of our own.
-- Shows on PostgreSQL and MariaDB at read committed; not on SQLite, which keeps its snapshot.
create table t (id int primary key, v int);

/* T1 */ begin;
/* T1 */ select count(*) from t;
/* T2 */ insert into t values (1, 1), (2, 2);
/* T1 */ select count(*) from t;
/* T1 */ commit;
