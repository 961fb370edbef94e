-- One query, two states: a locked row is read anew after the wait, the row that is joined to it is not.
-- Source: https://dba.stackexchange.com/questions/312261, in SQL of our own, in which A changes a step; there it adds
-- one, which no locking query tells of.
-- Shows on PostgreSQL at read committed, which is then no read committed; above it B is refused.
create table counters (id int primary key, total int);
create table steps (id int primary key, counter int, added int);
insert into counters values (1, 100);
insert into steps values (1, 1, 50), (2, 1, 50);

/* A */ begin;
/* B */ begin;
/* A */ update counters set total = total + 100 where id = 1;
/* B */ select * from counters c left join steps s on s.counter = c.id where c.id = 1 order by s.id desc limit 1 for update of c; -- waits
/* A */ update steps set added = added + 100 where id = 2;
/* A */ commit;
/* B */ commit;
