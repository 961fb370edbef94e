-- A row that is deleted and inserted anew: s2 waits to delete it, deletes nothing, sees the new row, and cannot insert its own.
-- Source: https://dba.stackexchange.com/questions/27688, in SQL of our own.
-- Shows on PostgreSQL at read committed as a duplicate key; above it s2 is refused before. On MariaDB s2 deletes the new row.
create table seats (id int primary key, holder varchar(20));
insert into seats values (1, 'nobody'), (2, 'nobody');

/* s1 */ begin;
/* s2 */ begin;
/* s1 */ delete from seats where id = 1;
/* s2 */ delete from seats where id = 1; -- waits for s1
/* s1 */ insert into seats values (1, 's1');
/* s1 */ commit;
/* s2 */ select * from seats where id = 1;
/* s2 */ insert into seats values (1, 's2');
/* s2 */ commit;
