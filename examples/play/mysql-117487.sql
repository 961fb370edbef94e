-- A write skew at "serializable", which is asked for too late: SET SESSION does not change a transaction that has begun.
-- Source: https://bugs.mysql.com/bug.php?id=117487, in SQL of our own.
-- Shows on MariaDB at each isolation but serializable. PostgreSQL takes the statement for SET TRANSACTION and refuses one of the two.
create table t (id int primary key, v int);
insert into t values (1, 10), (2, 20);

/* s1 */ begin;
/* s1 */ set session transaction isolation level serializable;
/* s2 */ begin;
/* s2 */ set session transaction isolation level serializable;
/* s1 */ select v from t where id = 1;
/* s2 */ select v from t where id = 2;
/* s1 */ update t set v = 21 where id = 2;
/* s2 */ update t set v = 11 where id = 1;
/* s1 */ commit;
/* s2 */ commit;
