-- A lost update: one transaction pays out an account, the other one closes it because it is empty. Both commit.
-- Source: seen with this tool; the same statements through DuckDB's interface for C show it too.
-- Shows on DuckDB 1.5.6, where a DELETE does not conflict with an UPDATE, on PostgreSQL at read committed, and on MariaDB up to repeatable read.
create table accounts (id int primary key, balance int);
insert into accounts values (1, 0), (2, 100);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ select * from accounts where id = 1;
/* T2 */ select * from accounts where id = 1;
/* T1 */ update accounts set balance = 50 where id = 1;
/* T2 */ delete from accounts where id = 1;
/* T1 */ commit;
/* T2 */ commit;
