-- Who joins a team looks first how many are in the next one: what is read is one group, what is written another. Where two do so
-- at once around a circle of teams, no row that either read has changed; only rows that were not there could tell.
create table members (id integer primary key, team integer not null);
create index on members (team);
fill members with 10 rows (id = :row, team = :row % 5);

transaction join_team weight 3;
  let :team in 0..4;
  let :next = (:team + 1) % 5;
  select id from members where team = :next;
  let :members = count;
  require :members < 6;
  let :id = new;
  insert into members (id, team) values (:id, :team);
end;

transaction leave_team weight 4;
  let :team in 0..4;
  select id from members where team = :team;
  let :id = id of row;
  delete from members where id = :id;
end;
