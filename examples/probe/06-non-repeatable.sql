-- non-repeatable: two reads of one key differ
-- anomaly: non-repeatable-read
-- level: read-atomic
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ select * from test where id = 1;
/* T2 */ update test set value = 12 where id = 1;
/* T2 */ commit;
/* T1 */ select * from test where id = 1;
/* T1 */ commit;
