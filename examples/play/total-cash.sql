-- Two tellers each take money from another account, after a look at the sum of both.
-- After total-cash of PostgreSQL's isolation tests (src/test/isolation/specs).
-- Shows on PostgreSQL and MariaDB up to repeatable read.
create table cash (account varchar(10) primary key, balance int);
insert into cash values ('checking', 600), ('savings', 600);

/* s1 */ begin;
/* s2 */ begin;
/* s1 */ update cash set balance = balance - 200 where account = 'checking';
/* s2 */ update cash set balance = balance - 200 where account = 'savings';
/* s1 */ select sum(balance) from cash;
/* s2 */ select sum(balance) from cash;
/* s1 */ commit;
/* s2 */ commit;
