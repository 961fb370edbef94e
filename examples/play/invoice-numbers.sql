-- Gapless numbers: both take the number behind the last.
-- After read-write-unique-4 of PostgreSQL's isolation tests (src/test/isolation/specs), without its unique index.
-- Shows on PostgreSQL and MariaDB up to repeatable read: two invoices have one number.
create table invoices (id int primary key, year int, number int);
insert into invoices values (1, 2016, 1), (2, 2016, 2);

/* s1 */ begin;
/* s2 */ begin;
/* s1 */ select max(number) + 1 from invoices where year = 2016;
/* s2 */ select max(number) + 1 from invoices where year = 2016;
/* s1 */ insert into invoices values (3, 2016, 3);
/* s2 */ insert into invoices values (4, 2016, 3);
/* s1 */ commit;
/* s2 */ commit;
