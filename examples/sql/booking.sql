-- A room may be booked once at a time: whoever books it looks first for bookings that overlap.
create table bookings (id integer primary key, room integer not null, from_day integer not null, to_day integer not null);
create index on bookings (room, from_day);
fill bookings with 4 rows (id = :row, room = :row, from_day = 10, to_day = 13);

transaction book weight 3;
  let :room in 1..4;
  let :from in 1..40;
  let :days in 1..5;
  let :to = :from + :days;
  select id from bookings where room = :room and from_day < :to and to_day > :from;
  let :overlapping = count;
  require :overlapping = 0;
  let :booking = new;
  insert into bookings (id, room, from_day, to_day) values (:booking, :room, :from, :to);
end;

transaction cancel weight 2;
  let :room in 1..4;
  select id from bookings where room = :room;
  let :booking = id of row;
  delete from bookings where id = :booking;
end;
