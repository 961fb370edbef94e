-- A connection that does not see what another one committed before.
-- Source: https://github.com/tursodatabase/turso/issues/3029, in SQL of our own.
-- Shows on none of PostgreSQL, MariaDB and SQLite.
create table t (id int primary key, v varchar(20));

/* c0 */ insert into t values (1, 'a');
/* c1 */ update t set v = 'b' where id = 1;
/* c0 */ select * from t where id = 1;
