-- A serializable database that is not: s2 reads a row that s1 has inserted since and s3 is updating, and only s3 is taken note of.
-- Source: https://postgr.es/m/db7b729d-0226-d162-a126-8a8ab2dc4443@jepsen.io, in SQL of our own.
-- Shows on PostgreSQL 12.3 at serializable as a write skew, on 15 at repeatable read only (fixed in 12.4).
create table orders (id int primary key, v int);
create table bills (id int primary key, v int);
insert into orders values (7, 0);
insert into bills values (7, 0);

/* s1 */ begin;
/* s2 */ begin;
/* s1 */ select * from bills where id = 1;
/* s2 */ insert into bills values (1, 1);
/* s1 */ insert into orders values (1, 1);
/* s1 */ commit;
/* s3 */ begin;
/* s3 */ update orders set v = 2 where id = 1;
/* s2 */ select * from orders where id = 1;
/* s2 */ commit;
/* s3 */ rollback;
