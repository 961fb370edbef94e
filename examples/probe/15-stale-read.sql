-- stale read: what was acknowledged is not seen
-- anomaly: real-time-violation
-- level: strong-si
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

/* T1 */ begin;
/* T1 */ update test set value = 11 where id = 1;
/* T1 */ commit;
/* T2 */ begin;
/* T2 */ select * from test where id = 1;
/* T2 */ commit;
