-- A cycle of three read-write conflicts, whose first read is of a version that two others have overwritten since.
-- After multiple-row-versions of PostgreSQL's isolation tests (src/test/isolation/specs), with three rows.
-- Shows on PostgreSQL and MariaDB up to repeatable read.
create table t (id int primary key, v int);
insert into t values (1, 0), (2, 0), (3, 0);

/* s1 */ begin;
/* s2 */ begin;
/* s1 */ select * from t where id = 1;
/* s2 */ update t set v = 1 where id = 1;
/* s2 */ commit;
/* s3 */ begin;
/* s3 */ update t set v = 2 where id = 1;
/* s3 */ select * from t where id = 2;
/* s4 */ begin;
/* s4 */ update t set v = 1 where id = 2;
/* s4 */ select * from t where id = 3;
/* s3 */ commit;
/* s4 */ commit;
/* s1 */ update t set v = 1 where id = 3;
/* s1 */ commit;
