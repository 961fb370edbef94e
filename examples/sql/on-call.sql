-- In each shift at least one doctor must be on call. Whoever wants to leave looks first whether another one stays.
create table doctors (id integer primary key, shift integer not null, on_call integer not null);
create index on doctors (shift);
fill doctors with 30 rows (id = :row, shift = :row % 10, on_call = 1);

transaction leave weight 3;
  let :shift in 0..9;
  select id from doctors where shift = :shift and on_call = 1;
  let :on_call = count;
  let :doctor = id of row;
  require :on_call >= 2;
  update doctors set on_call = 0 where id = :doctor;
end;

transaction come_back weight 2;
  let :doctor in 1..30;
  update doctors set on_call = 1 where id = :doctor;
end;
