-- A lost update: both tellers read the balance, and both write what they computed of it.
-- Shows on PostgreSQL at read committed, and on MariaDB up to repeatable read (the default).
create table accounts (id int primary key, balance int);
insert into accounts values (1, 100);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ select balance from accounts where id = 1;
/* T2 */ select balance from accounts where id = 1;
/* T1 */ update accounts set balance = 110 where id = 1;
/* T2 */ update accounts set balance = 120 where id = 1; -- waits for T1
/* T1 */ commit;
/* T2 */ commit;
