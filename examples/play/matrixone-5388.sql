-- A row that a concurrent update makes vanish from a scan.
-- Source: https://github.com/matrixorigin/matrixone/issues/5388, in SQL of our own.
-- Shows on PostgreSQL and MariaDB at read committed as a non-repeatable read; the row never vanishes.
create table t (a int primary key, b int);
insert into t values (10, 10);

/* s2 */ begin;
/* s2 */ select * from t;
/* s1 */ begin;
/* s1 */ update t set b = b + 1 where a = 10;
/* s1 */ commit;
/* s2 */ select * from t;
/* s2 */ commit;
