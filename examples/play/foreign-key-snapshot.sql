-- A real foreign key finds the child that its snapshot does not have.
-- Source: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commitdiff;h=a2b4102a21ad730ce46b059acf49d72151e979f6, in SQL of our own.
-- Refused on PostgreSQL at each isolation; at serializable as a serialization failure. Compare parent-lock.sql.
create table parent (id int primary key);
create table child (id int primary key, parent int references parent (id));
insert into parent values (1);

/* s2 */ begin;
/* s2 */ select * from child;
/* s1 */ begin;
/* s1 */ insert into child values (1, 1);
/* s2 */ delete from parent where id = 1; -- waits for s1
/* s1 */ commit;
/* s2 */ commit;
