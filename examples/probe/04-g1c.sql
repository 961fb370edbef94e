-- G1c: circular information flow: each reads what the other wrote
-- anomaly: g1c
-- level: read-committed
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ update test set value = 11 where id = 1;
/* T2 */ update test set value = 22 where id = 2;
/* T1 */ select * from test where id = 2;
/* T2 */ select * from test where id = 1;
/* T1 */ commit;
/* T2 */ commit;
