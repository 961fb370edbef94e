-- G1a: aborted read: what was read is undone
-- anomaly: aborted-read
-- level: read-committed
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ update test set value = 11 where id = 1;
/* T2 */ select * from test where id = 1;
/* T1 */ rollback;
/* T2 */ select * from test where id = 1;
/* T2 */ commit;
