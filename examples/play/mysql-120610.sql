-- An update that waits, and then changes nothing: t2 closes a job that t1 has closed meanwhile, and still reads that it is open.
-- Source: https://bugs.mysql.com/bug.php?id=120610, in SQL of our own.
-- So on MariaDB at repeatable read, and that is no anomaly: what changes nothing writes nothing there. At read committed it is a
-- non-repeatable read, on PostgreSQL at read committed a lost update.
create table jobs (id int primary key, state varchar(20));
insert into jobs values (1, 'open');

/* t1 */ begin;
/* t1 */ update jobs set state = 'closed' where id = 1;
/* t2 */ begin;
/* t2 */ select state from jobs where id = 1;
/* t2 */ update jobs set state = 'closed' where id = 1; -- waits for t1
/* t1 */ commit;
/* t2 */ select state from jobs where id = 1;
/* t2 */ commit;
