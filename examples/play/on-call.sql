-- A write skew: each doctor sees that another one is on call, and leaves.
-- After the example of Cahill, Röhm and Fekete, Serializable isolation for snapshot databases (SIGMOD 2008).
-- Shows on PostgreSQL and MariaDB up to repeatable read.
create table doctors (name varchar(20) primary key, on_call int);
insert into doctors values ('alice', 1), ('bob', 1);

/* alice */ begin;
/* bob */ begin;
/* alice */ select count(*) from doctors where on_call = 1;
/* bob */ select count(*) from doctors where on_call = 1;
/* alice */ update doctors set on_call = 0 where name = 'alice';
/* bob */ update doctors set on_call = 0 where name = 'bob';
/* alice */ commit;
/* bob */ commit;
