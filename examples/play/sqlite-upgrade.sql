-- A transaction that has read cannot write once another one has written.
-- Source: https://sqlite.org/forum/forumpost/a7f2f09ebf39a547, in SQL of our own.
-- Refused on SQLite with SQLITE_BUSY_SNAPSHOT: what A writes would be a lost update, as it is on PostgreSQL at read committed and on
-- MariaDB up to repeatable read.
create table t (x int primary key, v int);
insert into t values (1, 1);

/* A */ begin;
/* A */ select * from t;
/* B */ update t set v = v + 1;
/* A */ update t set v = -1;
/* A */ commit;
