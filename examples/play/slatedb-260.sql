-- Two transfers from one account. The text calls it a write skew; it is a lost update, which snapshot isolation forbids.
-- Source: https://github.com/slatedb/slatedb/pull/260, in SQL of our own.
-- Shows on PostgreSQL at read committed, and on MariaDB up to repeatable read.
create table accounts (name varchar(1) primary key, balance int);
insert into accounts values ('A', 600), ('B', 500), ('C', 0);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ select * from accounts where name = 'A' or name = 'C';
/* T2 */ select * from accounts where name = 'A' or name = 'B';
/* T1 */ update accounts set balance = 200 where name = 'A';
/* T1 */ update accounts set balance = 400 where name = 'C';
/* T1 */ commit;
/* T2 */ update accounts set balance = 300 where name = 'A';
/* T2 */ update accounts set balance = 800 where name = 'B';
/* T2 */ commit;
