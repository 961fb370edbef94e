-- No anomaly, and refused: two transactions look for, and insert, rows that have nothing to do with each other.
-- Source: https://dba.stackexchange.com/questions/246179, in SQL of our own.
-- So on PostgreSQL and MariaDB at serializable, where the table is empty, and on SQLite.
create table users (id int primary key, name varchar(20));

/* t1 */ begin;
/* t2 */ begin;
/* t1 */ select * from users where id = 2;
/* t2 */ select * from users where id = 3;
/* t1 */ insert into users values (2, 'ada');
/* t2 */ insert into users values (3, 'bob');
/* t1 */ commit;
/* t2 */ commit;
