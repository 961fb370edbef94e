-- Rows that appear when they are updated: buyer sees two items before its update, three after it.
-- Source: https://bugs.mysql.com/bug.php?id=102752, in SQL of our own.
-- Shows on PostgreSQL at read committed, and on MariaDB up to repeatable read. Refused with
-- innodb_snapshot_isolation=ON, and on SQLite.
create table items (id int primary key, price int);
insert into items values (1, 10), (2, 20);

/* buyer */ begin;
/* buyer */ select id from items;
/* seller */ insert into items values (3, 30);
/* buyer */ select id from items;
/* buyer */ update items set price = price + 1 where id > 1;
/* buyer */ select id from items;
/* buyer */ commit;
