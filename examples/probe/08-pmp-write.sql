-- PMP write: predicate-many-preceders: a delete meets other rows than the query before it
-- anomaly: g-single
-- level: read-atomic
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ update test set value = value + 10;
/* T2 */ select * from test where value = 20;
/* T2 */ delete from test where value = 20;
/* T1 */ commit;
/* T2 */ select * from test where value = 20;
/* T2 */ commit;
