-- Refused: what a database counts group by group.
create table doctors (id integer primary key, shift integer not null, on_call integer);

transaction leave;
  let :doctor in 1..3;
  select shift, count(*) from doctors where on_call = 1 group by shift;
  update doctors set on_call = 0 where id = :doctor;
end;
