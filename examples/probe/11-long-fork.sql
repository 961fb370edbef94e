-- long fork: two readers see two writes in different orders
-- anomaly: long-fork
-- level: prefix
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

/* T1 */ begin;
/* T2 */ begin;
/* T3 */ begin;
/* T4 */ begin;
/* T3 */ select * from test where id = 1;
/* T4 */ select * from test where id = 2;
/* T1 */ update test set value = 11 where id = 1;
/* T2 */ update test set value = 22 where id = 2;
/* T1 */ commit;
/* T2 */ commit;
/* T3 */ select * from test where id = 2;
/* T4 */ select * from test where id = 1;
/* T3 */ commit;
/* T4 */ commit;
