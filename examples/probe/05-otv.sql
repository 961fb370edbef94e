-- OTV: observed transaction vanishes: seen once, then not any more
-- anomaly: non-monotonic-read
-- level: read-committed
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

/* T1 */ begin;
/* T2 */ begin;
/* T3 */ begin;
/* T1 */ update test set value = 11 where id = 1;
/* T1 */ update test set value = 21 where id = 2;
/* T2 */ update test set value = 12 where id = 1;
/* T1 */ commit;
/* T3 */ select * from test where id = 1;
/* T3 */ select * from test where id = 2;
/* T2 */ update test set value = 22 where id = 2;
/* T3 */ select * from test where id = 2;
/* T2 */ commit;
/* T3 */ select * from test where id = 1;
/* T3 */ select * from test where id = 2;
/* T3 */ commit;
