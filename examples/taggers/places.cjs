// Adds to each statement the place in the code that sent it, as a comment: SELECT … /*file='shop/orders.js:42'*/
//
// `assay record` reads it, and names the place in what it explains. A place always adds the same comment, so that
// prepared statements work as before: there is one for each place. Copy this file.
//
//   pg           tagPg(pool)             or a Client
//   Knex         tagKnex(knex)           made with asyncStackTraces: true
//   Sequelize    tagSequelize(sequelize)
const path = require("node:path");

// The nearest caller that is in no library.
function comment(stack) {
  for (const line of stack.split("\n").slice(1)) {
    const found = /(?:\(|at (?:async )?)(?:file:\/\/)?(\/[^()]+):(\d+):\d+\)?$/.exec(line);
    if (!found || found[1].includes("node_modules") || found[1] === __filename) continue;
    const file = path.relative(process.cwd(), found[1]).replace(/[^A-Za-z0-9_./-]/g, "_");
    return `file='${file}:${found[2]}'`;
  }
  return "";
}

function tagged(sql, stack = new Error().stack) {
  const place = comment(stack);
  return place && typeof sql === "string" ? `${sql} /*${place}*/` : sql;
}

function tagPg(pool) {
  const tag = (client) => {
    const query = client.query.bind(client);
    client.query = (sql, ...rest) =>
      query(typeof sql === "string" ? tagged(sql) : sql?.text ? { ...sql, text: tagged(sql.text) } : sql, ...rest);
  };
  tag(pool);
  if (pool.totalCount !== undefined) pool.on("connect", tag);
}

function tagKnex(knex) {
  knex.on("start", (builder) => {
    const place = comment(builder._asyncStack?.stack ?? new Error().stack);
    if (place && builder.comment) builder.comment(place);
  });
}

function tagSequelize(sequelize) {
  const query = sequelize.query.bind(sequelize);
  sequelize.query = (sql, ...rest) =>
    query(typeof sql === "string" ? tagged(sql) : { ...sql, query: tagged(sql.query) }, ...rest);
}

module.exports = { tagPg, tagKnex, tagSequelize };
