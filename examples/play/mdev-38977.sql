-- Read skew on one row: what a transaction read twice is not what it then appends to.
-- Source: https://jira.mariadb.org/browse/MDEV-38977, in SQL of our own.
-- Shows on PostgreSQL at read committed, and on MariaDB up to repeatable read; with innodb_snapshot_isolation=ON it is refused.
create table lists (k int primary key, v varchar(100));
insert into lists values (665, '2,3,5');

/* p2 */ begin;
/* p2 */ select v from lists where k = 665;
/* p1 */ update lists set v = concat(v, ',10') where k = 665;
/* p2 */ select v from lists where k = 665;
/* p2 */ update lists set v = concat(v, ',6') where k = 665;
/* p2 */ commit;
/* p3 */ select v from lists where k = 665;
