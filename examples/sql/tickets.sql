-- Whoever takes a ticket takes the number behind the greatest one that is open, and no two open ones have the same. At most
-- six are open.
create table tickets (id integer primary key, number integer not null, open integer not null);
create index on tickets (open, number);
fill tickets with 3 rows (id = :row, number = :row, open = 1);

transaction take weight 2;
  select count(*) from tickets where open = 1;
  let :open = result;
  require :open <= 5;
  select max(number) from tickets where open = 1;
  let :last = result;
  require :last >= 1;
  let :ticket = new;
  insert into tickets (id, number, open) values (:ticket, :last + 1, 1);
end;

transaction first;
  select count(*) from tickets where open = 1;
  let :open = result;
  require :open = 0;
  let :ticket = new;
  insert into tickets (id, number, open) values (:ticket, 1, 1);
end;

transaction done weight 2;
  select min(number) from tickets where open = 1;
  let :number = result;
  require :number >= 1;
  update tickets set open = 0 where open = 1 and number = :number;
end;
