-- An update meets a row that the transaction does not see, and afterwards it sees that row as it left it.
-- Source: https://github.com/pingcap/tidb/issues/36718, in SQL of our own.
-- Shows on PostgreSQL at read committed, and on MariaDB up to repeatable read: there the update finds what A committed since.
create table t (id int primary key, v int);
insert into t values (1, 1);

/* B */ begin;
/* B */ select * from t where v = 2;
/* A */ update t set v = 2 where id = 1;
/* B */ update t set v = v + 10 where v = 2;
/* B */ select * from t;
/* B */ commit;
