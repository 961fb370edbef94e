-- A row that was inserted after the transaction began appears in it.
-- Source: https://github.com/yugabyte/yugabyte-db/issues/22456, in SQL of our own.
-- Shows on PostgreSQL and MariaDB at read committed; on neither at repeatable read and serializable, where YugabyteDB showed it.
create table demo (id int primary key, v int);

/* s1 */ begin;
/* s1 */ insert into demo values (1, 1);
/* s1 */ select * from demo where v = 42;
/* s2 */ insert into demo values (2, 42);
/* s1 */ select * from demo where v = 42;
/* s1 */ commit;
