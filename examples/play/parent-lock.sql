-- A foreign key by hand: C1 locks the parent and adds a child, C2 has seen no child and deletes the parent. The lock is gone by then.
-- Source: https://mail-archive.com/pgsql-hackers@postgresql.org/msg152038.html, in SQL of our own.
-- Shows on PostgreSQL and MariaDB up to repeatable read, with innodb_snapshot_isolation=ON as well.
create table parent (id int primary key);
create table child (id int primary key, parent int);
insert into parent values (1);

/* C2 */ begin;
/* C2 */ select * from child where parent = 1;
/* C1 */ begin;
/* C1 */ select * from parent where id = 1 for update;
/* C1 */ insert into child values (1, 1);
/* C1 */ commit;
/* C2 */ delete from parent where id = 1;
/* C2 */ commit;
