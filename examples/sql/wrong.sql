-- Refused: how many rows there are is for assay to count, which sees them.
create table doctors (id integer primary key, on_call integer);

transaction leave;
  let :doctor in 1..3;
  select count(*) from doctors where on_call = 1;
  update doctors set on_call = 0 where id = :doctor;
end;
