-- A customer may overdraw an account as long as all accounts of the customer together are not overdrawn.
create table accounts (id integer primary key, customer integer not null, balance integer not null);
create index on accounts (customer);
fill accounts with 24 rows (id = :row, customer = :row % 8, balance = 100);

transaction withdraw weight 2;
  let :customer in 0..7;
  let :amount in 50..250;
  select id, balance from accounts where customer = :customer;
  let :total = sum of balance;
  let :account = id of row;
  require :total >= :amount;
  update accounts set balance = balance - :amount where id = :account;
end;

transaction deposit;
  let :account in 1..24;
  let :amount in 50..250;
  update accounts set balance = balance + :amount where id = :account;
end;

transaction overdrawn;
  select id, customer from accounts where balance < 0;
end;
