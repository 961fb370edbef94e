-- PMP: predicate-many-preceders: what a query finds changes while its transaction goes on
-- anomaly: g-single
-- level: read-atomic
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ select * from test where value between 30 and 49;
/* T2 */ insert into test (id, value) values (3, 30);
/* T2 */ commit;
/* T1 */ select * from test where value between 30 and 49;
/* T1 */ commit;
