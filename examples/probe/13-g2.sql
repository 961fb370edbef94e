-- G2: write skew on absent rows: each inserts what the other looked for
-- anomaly: g2
-- level: serializable
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

/* T1 */ begin;
/* T2 */ begin;
/* T1 */ select * from test where value between 30 and 49;
/* T2 */ select * from test where value between 30 and 49;
/* T1 */ insert into test (id, value) values (3, 30);
/* T2 */ insert into test (id, value) values (4, 42);
/* T1 */ commit;
/* T2 */ commit;
