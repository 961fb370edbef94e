-- Two versions of the same rows: an update of the key moves rows that a snapshot still has, so that c2 sees six rows of three.
-- Source: https://bugs.mysql.com/bug.php?id=5839, in SQL of our own.
-- Shows on MariaDB at repeatable read. At read committed it is a phantom, on PostgreSQL too.
create table t (a int primary key);
insert into t values (1), (2), (3);

/* c1 */ begin;
/* c2 */ begin;
/* c1 */ select * from t;
/* c2 */ select * from t;
/* c1 */ update t set a = a * 10;
/* c1 */ commit;
/* c2 */ update t set a = a + 1;
/* c2 */ select * from t;
/* c2 */ commit;
/* c1 */ select * from t;
