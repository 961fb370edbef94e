-- A queue of jobs: each worker takes the first job that waits and that nobody else is taking.
create table jobs (id integer primary key, state text not null, worker integer);
create index on jobs (state);
fill jobs with 50 rows (id = :row, state = 'waits');

transaction take weight 3;
  let :worker in 1..10;
  select id from jobs where state = 'waits' order by id limit 1 for update skip locked;
  let :job = id of row;
  update jobs set state = 'done', worker = :worker where id = :job;
end;

transaction put weight 3;
  let :job = new;
  insert into jobs (id, state) values (:job, 'waits');
end;

transaction look;
  select id from jobs where state = 'waits';
end;
