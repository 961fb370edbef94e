-- No anomaly, though it was reported: at serializable a read locks, and does not heed the consistent snapshot that the transaction
-- began with. s1 sees what s2 committed since on MariaDB at read uncommitted, read committed and serializable, not at repeatable read.
-- Source: https://bugs.mysql.com/bug.php?id=119649, in SQL of our own.
create table t (id int primary key, v int);
insert into t values (1, 10), (2, 20);

/* s1 */ start transaction with consistent snapshot;
/* s2 */ update t set v = 0;
/* s1 */ select * from t;
/* s1 */ commit;
