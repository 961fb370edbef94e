-- A duplicate key of a name that the transaction has just seen to be free.
-- Source: https://postgresql.org/message-id/3F697CF1-2BB7-40D4-9D20-919D1A5D6D93%40apple.com (BUG #9301), in SQL of our own.
-- Refused everywhere. PostgreSQL at serializable calls it a serialization failure, and did not in 2014; at repeatable read and on
-- MariaDB it is a duplicate key. At read committed MariaDB has a non-repeatable read beside.
create table names (name varchar(20) primary key);

/* t1 */ begin;
/* t2 */ begin;
/* t1 */ select name from names where name = 'x';
/* t2 */ select name from names where name = 'x';
/* t1 */ insert into names values ('x');
/* t1 */ commit;
/* t2 */ select name from names where name = 'x';
/* t2 */ insert into names values ('x');
/* t2 */ commit;
