// What the HTML report does beyond standing there: the page is complete without it. It works on the JSON of
// report/page_data.cc, fetches nothing, and puts text into the page as text only.
//
//   state      what is selected, found and shown; it stands in the address after #, so that a link leads back to it
//   Timeline   the whole run above, the transactions of a part of it below
//   Graph      the transactions of an explanation and what orders them, laid out by dagre
//   Inspector  one transaction or one arrow in detail
//   Player     the order that proves a satisfied level, step by step
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";

  const files = JSON.parse(document.getElementById("assay-data").textContent);

  // Elements.

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const button = (label, onclick, attributes) => el("button", { type: "button", onclick, ...attributes }, label);

  // A drawing that works like a button.
  function pressable(group, label, onpress) {
    fill(group, {
      tabindex: 0, role: "button", "aria-label": label, onclick: onpress,
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onpress();
      },
    }, []);
    return group;
  }

  const canvas = document.createElement("canvas").getContext("2d");
  function width(text, font) {
    canvas.font = font;
    return canvas.measureText(text).width;
  }

  function duration(ns) {
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
      if (Math.abs(ns) >= size) return `${Number((ns / size).toPrecision(4))} ${unit}`;
    return `${Math.round(ns)} ns`;
  }

  const arrowName = (file, arrow) =>
    `${file.byId.get(arrow.from).name} → ${file.byId.get(arrow.to).name}`;
  const arrowLabel = (arrow) => arrow.kind + (arrow.key === undefined ? "" : ` (${arrow.key})`);

  // State.

  const state = { file: 0, why: undefined, edge: undefined, txn: undefined, find: "", from: undefined,
    to: undefined, step: undefined };
  const numbers = ["file", "why", "edge", "txn", "from", "to", "step"];

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const name of numbers) {
      const value = given.has(name) ? Number(given.get(name)) : NaN;
      state[name] = Number.isFinite(value) ? value : undefined;
    }
    state.file = state.file === undefined ? 0 : state.file;
    state.find = given.get("find") || "";
  }

  function writeAddress() {
    const said = new URLSearchParams();
    for (const name of [...numbers, "find"])
      if (state[name] !== undefined && state[name] !== "" && !(name === "file" && files.length === 1))
        said.set(name, state[name]);
    const hash = said.toString();
    if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : "#");
  }

  const views = [];
  function change(what) {
    if (what.file !== undefined && what.file !== state.file)
      Object.assign(state, { why: undefined, edge: undefined, txn: undefined, from: undefined, to: undefined, step: undefined });
    Object.assign(state, what);
    writeAddress();
    for (const view of views) view.update();
  }
  const here = (file) => state.file === file.number;
  const timed = (txn) => txn.ops.length > 0 && txn.ops.every((op) => op.at);

  // Words of the filter: "key:x session:s1 txn:s1-4" and any other text. All have to hold.
  function matches(file, txn) {
    if (!here(file) || !state.find.trim()) return true;
    return state.find.trim().toLowerCase().split(/\s+/).every((word) => {
      const [, field, text] = word.match(/^(key|session|txn):(.+)$/) || [, "", word];
      if (field === "key") return txn.ops.some((op) => (op.key || "").toLowerCase() === text);
      if (field === "session") return txn.session.toLowerCase() === text;
      if (field === "txn") return txn.name.toLowerCase().includes(text);
      const all = [txn.name, txn.session, txn.outcome, txn.meta || "", ...txn.ops.map((op) => op.text)];
      return all.some((part) => part.toLowerCase().includes(text));
    });
  }

  // Timeline.

  class Timeline {
    constructor(file) {
      this.file = file;
      this.whole = { from: 0, to: Math.max(1, file.span) };
      const buttons = el("div", { class: "buttons", role: "toolbar", "aria-label": "Timeline" },
        button("Whole run", () => this.show(this.whole), { title: file.txns.length < file.count ? `Of the run's ${file.count.toLocaleString("en")} transactions this page holds ${file.txns.length}` : undefined }),
        file.explanations.length ? button("Violation", () => this.show(this.violation())) : "",
        button("+", () => this.zoom(0.5), { "aria-label": "Zoom in" }),
        button("−", () => this.zoom(2), { "aria-label": "Zoom out" }),
        button("←", () => this.pan(-0.4), { "aria-label": "Earlier" }),
        button("→", () => this.pan(0.4), { "aria-label": "Later" }));
      this.strip = draw("svg", { class: "strip", viewBox: "0 0 1000 92", role: "img",
        "aria-label": "Transactions over the whole run" });
      this.rows = draw("svg", { class: "rows", tabindex: 0, role: "group",
        "aria-label": "Transactions in a part of the run. Arrow keys move, plus and minus zoom, 0 shows all." });
      this.caption = el("figcaption");
      this.panel = el("figure", { class: "timeline" }, buttons, this.strip, this.rows, this.caption);
      this.listen();
      this.drawStrip();
    }

    violation(explanation) {
      const chosen = explanation || this.file.explanations[0];
      const named = [...chosen.txns, ...(chosen.answers ? chosen.answers.accepted : [])].map((id) => this.file.byId.get(id));
      const from = Math.min(...named.map((t) => t.begin)), to = Math.max(...named.map((t) => t.end ?? t.begin));
      const margin = Math.max((to - from) * 0.08, this.whole.to * 1e-6);
      return { from: Math.max(0, from - margin), to: Math.min(this.whole.to, to + margin) };
    }
    window() {
      const given = here(this.file) && state.from !== undefined && state.to > state.from;
      if (given) return { from: state.from, to: state.to };
      return this.file.explanations.length ? this.violation() : this.whole;
    }
    show({ from, to }) {
      const least = this.file.timed ? 10 : 0.5;
      const span = Math.min(this.whole.to, Math.max(least, to - from));
      const start = Math.min(Math.max(0, from), this.whole.to - span);
      change({ file: this.file.number, from: Number(start.toPrecision(12)), to: Number((start + span).toPrecision(12)) });
    }
    zoom(factor, at = 0.5) {
      const { from, to } = this.window(), centre = from + (to - from) * at;
      this.show({ from: centre - (centre - from) * factor, to: centre + (to - centre) * factor });
    }
    pan(share) {
      const { from, to } = this.window();
      this.show({ from: from + (to - from) * share, to: to + (to - from) * share });
    }

    listen() {
      const share = (event, svg) => (event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width;
      let began;
      this.strip.addEventListener("pointerdown", (event) => { began = share(event, this.strip); });
      this.strip.addEventListener("pointerup", (event) => {
        if (began === undefined) return;
        const a = Math.min(began, share(event, this.strip)), b = Math.max(began, share(event, this.strip));
        const half = b - a < 0.005 ? 0.02 : 0;
        this.show({ from: (a - half) * this.whole.to, to: (b + half) * this.whole.to });
        began = undefined;
      });
      this.rows.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return;  // a page that scrolls must stay one
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, (share(event, this.rows) * 1000 - 110) / 880);
      }, { passive: false });
      const keys = { ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), "+": () => this.zoom(0.5),
        "-": () => this.zoom(2), 0: () => this.show(this.whole) };
      this.rows.addEventListener("keydown", (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        keys[event.key]();
      });
    }

    drawStrip() {
      const { outcomes, reasons, events } = this.file.run, step = 1000 / outcomes.length;
      const most = Math.max(1, ...outcomes.map((counts) => counts[0] + counts[1] + counts[2]));
      const bars = draw("g");
      outcomes.forEach(([committed, aborted, unknown], i) => {
        const why = reasons.filter((r) => r.counts[i]).map((r) => `${r.counts[i]} aborted: ${r.reason}`);
        const parts = [["committed", committed], ...reasons.map((r, n) => [`aborted r${n % 3}`, r.counts[i]]), ["unknown", unknown]];
        let y = 70;
        const stack = draw("g", {}, draw("title", {}, [`${committed} committed`, ...why,
          unknown ? `${unknown} of unknown outcome` : ""].filter(Boolean).join("\n")));
        for (const [style, count] of parts) {
          const height = count / most * 58;
          y -= height;
          if (height) stack.append(draw("rect", { x: i * step, y, width: step - 0.6, height, class: `bar ${style}` }));
        }
        bars.append(stack);
      });
      const marks = draw("g");
      for (const event of events) {
        const x = event.at / this.whole.to * 1000;
        marks.append(draw("path", { d: `M${x - 5} 88L${x + 5} 88L${x} 78z`, class: "event" }, draw("title", {}, event.text)));
      }
      for (const explanation of this.file.explanations) {
        const { from, to } = this.violation(explanation), x = (from + to) / 2 / this.whole.to * 1000;
        marks.append(pressable(draw("g", { class: "violation" }, draw("path", { d: `M${x} 8L${x} 72` }), draw("circle", { cx: x, cy: 8, r: 5 }),
          draw("title", {}, explanation.anomaly)), `Show ${explanation.anomaly}`, () => this.show(this.violation(explanation))));
      }
      this.brush = draw("rect", { y: 4, height: 72, class: "brush" });
      this.strip.append(bars, draw("path", { d: "M0 71L1000 71", class: "axis" }), this.brush, marks);
    }

    update() {
      const { from, to } = this.window(), span = to - from;
      this.brush.setAttribute("x", from / this.whole.to * 1000);
      this.brush.setAttribute("width", Math.max(2, span / this.whole.to * 1000));
      const x = (at) => 110 + (at - from) / span * 880;
      const inside = this.file.txns.filter((t) => t.begin <= to && (t.end ?? Infinity) >= from);
      const sessions = [...new Set(inside.map((t) => t.session))].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
      const height = sessions.length * 34 + 34, bottom = height - 20;
      const focused = this.rows.contains(document.activeElement) && document.activeElement.dataset.txn;
      this.rows.setAttribute("viewBox", `0 0 1000 ${height}`);
      this.rows.replaceChildren(draw("defs", {}, draw("clipPath", { id: `clip${this.file.number}` },
        draw("rect", { x: 108, y: 0, width: 884, height }))));
      const bars = draw("g", { "clip-path": `url(#clip${this.file.number})` });
      sessions.forEach((session, row) => {
        this.rows.append(draw("text", { x: 100, y: row * 34 + 25, class: "label", "text-anchor": "end" }, session));
        bars.append(draw("path", { d: `M110 ${row * 34 + 20}L990 ${row * 34 + 20}`, class: "axis" }));
      });
      for (const t of inside) bars.append(this.bar(t, sessions.indexOf(t.session) * 34 + 8, x));
      this.rows.append(bars);
      this.drawEvents(x, from, to, bottom);
      this.drawPrefix(x, from, to, bottom);
      this.rows.append(draw("path", { d: `M110 ${bottom}L990 ${bottom}`, class: "axis" }),
        draw("text", { x: 110, y: height - 5, class: "label" }, this.time(from)),
        draw("text", { x: 990, y: height - 5, class: "label", "text-anchor": "end" }, this.time(to)));
      if (focused) this.rows.querySelector(`[data-txn="${focused}"]`)?.focus();
      this.tell(inside);
    }

    time(at) { return this.file.timed ? duration(at) : `transaction ${Math.min(this.file.count, Math.floor(at) + 1)}`; }

    tell(inside) {
      const of = this.file.txns.length < this.file.count
        ? ` This page holds ${this.file.txns.length} of the ${this.file.count.toLocaleString("en")} transactions: those of the violations, those next to them${this.file.order ? ", and those that the order below begins with" : ""}.` : "";
      const axis = this.file.timed ? "On the clients' clock." : "No times were recorded: in the order of the file.";
      const aborts = this.file.run.reasons.map((r) => `${r.counts.reduce((a, b) => a + b)} aborted: ${r.reason}`).join("; ");
      this.caption.textContent = `${axis} Above, the whole run: transactions as they ended${aborts ? ` (${aborts})` : ""}, marks where a violation and ` +
        `where a fault is; drag to choose a part. Below, ${inside.length} transactions of it; ` +
        `operations stand ${inside.some(timed) ? "where they were sent and answered, as far as that was recorded" : "in their order, not at their times"}.${of}`;
    }

    bar(t, y, x) {
      const left = Math.max(-2000, x(t.begin)), right = Math.min(3000, t.end === undefined ? 1000 : x(t.end));
      const width_ = Math.max(3, right - left), seen = Math.min(990, right) - Math.max(110, left);
      const answers = this.file.explanations.map((e) => e.answers).find(Boolean);
      const style = ["txn", t.outcome, t.named ? "named" : "", t.end === undefined ? "open" : "",
        answers?.accepted.includes(t.id) ? "accepted" : "", answers?.until === t.id ? "rejected" : "",
        matches(this.file, t) ? "" : "dim", here(this.file) && state.txn === t.id ? "selected" : ""].join(" ");
      const group = draw("g", { class: style, "data-txn": t.id },
        draw("title", {}, `${t.name}, ${t.outcome}${this.file.timed && t.end !== undefined ? `, ${duration(t.end - t.begin)}` : ""}\n${t.ops.map((op) => op.text).join(" ")}`),
        draw("rect", { x: left, y, width: width_, height: 24, rx: 4 }));
      const widths = t.ops.map((op) => width(op.text, "11px ui-monospace, monospace") + 10);
      const middle = (Math.max(110, left) + Math.min(990, right)) / 2;
      if (timed(t) && seen > 24) {
        t.ops.forEach((op, i) => {
          const from = x(op.at[0]), w = Math.max(2, x(op.at[1]) - from);
          group.append(draw("rect", { x: from, y: y + 3, width: w, height: 18, rx: 3, class: `op${op.tells ? " tells" : ""}` }, draw("title", {}, op.text)));
          if (widths[i] - 6 < w) group.append(draw("text", { x: from + w / 2, y: y + 16, class: "op", "text-anchor": "middle" }, op.text));
        });
      } else if (t.ops.length && widths.reduce((a, b) => a + b, 0) < Math.min(seen, width_)) {
        const each = width_ / t.ops.length;
        const fits = Math.max(...widths) < each;
        let at = left;
        t.ops.forEach((op, i) => {
          const w = fits ? each : widths[i] / widths.reduce((a, b) => a + b, 0) * width_;
          group.append(draw("rect", { x: at + 1, y: y + 3, width: Math.max(1, w - 2), height: 18, rx: 3, class: `op${op.tells ? " tells" : ""}` }),
            draw("text", { x: at + w / 2, y: y + 16, class: "op", "text-anchor": "middle" }, op.text));
          at += w;
        });
      } else if (width(t.name, "12px system-ui, sans-serif") + 6 < seen) {
        group.append(draw("text", { x: middle, y: y + 16, class: "name", "text-anchor": "middle" }, t.name));
      }
      return pressable(group, `${t.name}, ${t.outcome}`, () => change({ file: this.file.number, txn: t.id, why: undefined, edge: undefined }));
    }

    drawEvents(x, from, to, bottom) {
      for (const event of this.file.run.events.filter((e) => e.at >= from && e.at <= to))
        this.rows.append(draw("path", { d: `M${x(event.at)} 0L${x(event.at)} ${bottom}`, class: "fault" }, draw("title", {}, event.text)),
          draw("circle", { cx: x(event.at), cy: bottom, r: 5, class: "event" }, draw("title", {}, event.text)));
    }

    // Linearizability: up to where the answers fit an order.
    drawPrefix(x, from, to, bottom) {
      for (const explanation of this.file.explanations) {
        if (!explanation.answers?.accepted.length) continue;
        const ends = explanation.answers.accepted.map((id) => this.file.byId.get(id).end);
        const at = Math.max(...ends.filter((end) => end !== undefined));
        if (at < from || at > to) continue;
        this.rows.append(draw("path", { d: `M${x(at)} 0L${x(at)} ${bottom}`, class: "prefix" }),
          draw("text", { x: x(at) - 6, y: bottom + 15, class: "label prefix", "text-anchor": "end" }, "the answers up to here fit an order"));
      }
    }
  }

  // Graph.

  // A smooth line through all points, so that a label that stands on one of them stands on the line.
  function through(points) {
    const at = (i) => points[Math.min(Math.max(i, 0), points.length - 1)];
    let path = `M${at(0).x} ${at(0).y}`;
    for (let i = 0; i + 1 < points.length; ++i) {
      const [before, from, to, after] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
      path += `C${from.x + (to.x - before.x) / 6} ${from.y + (to.y - before.y) / 6} ` +
        `${to.x - (after.x - from.x) / 6} ${to.y - (after.y - from.y) / 6} ${to.x} ${to.y}`;
    }
    return path;
  }

  class Graph {
    constructor(file, explanation, number) {
      Object.assign(this, { file, explanation, number });
      this.near = new Set();
      this.picture = draw("svg", { class: "graph", role: "group", "aria-label": "Dependencies between the transactions" });
      this.panel = el("figure", { class: "dependencies" }, this.picture, el("figcaption", {},
        "Solid arrows close the cycle, dashed ones are what they rest on. Click an arrow for its reason, a transaction for its operations."));
      this.layOut();
    }

    // The arrows shown: those of the explanation, a refuted one only while its alternative is selected, and those to neighbours.
    arrows() {
      const chosen = this.explanation.arrows.map((arrow, index) => ({ arrow, index }))
        .filter(({ arrow }) => !arrow.refuted || (this.selected() && arrow.supports?.includes(state.edge)))
        .filter(({ arrow }) => !this.explanation.arrows.some((read) => this.joins(read, arrow)));
      const drawn = new Set(this.explanation.arrows.map((a) => `${a.from} ${a.to} ${a.kind}`));
      for (const link of this.file.links) {
        const between = this.nodes().has(link.from) && this.nodes().has(link.to);
        const isNew = this.near.has(link.from) || this.near.has(link.to);
        if (between && isNew && !drawn.has(`${link.from} ${link.to} ${link.kind}`)) chosen.push({ arrow: link });
      }
      return chosen;
    }
    // A reader that also wrote the key later than the one it read from: one line is enough for both.
    joins(read, write) {
      return !read.cycle && !write.cycle && read.kind === "read-dependency" && write.kind === "write-dependency" &&
        read.from === write.from && read.to === write.to && read.key === write.key;
    }
    joined(read) { return this.explanation.arrows.find((write) => this.joins(read, write)); }
    words(arrow) {
      const name = this.joined(arrow) ? arrowLabel(arrow).replace("read-dependency", "read- and write-dependency") : arrowLabel(arrow);
      return name + (arrow.refuted ? ": refuted" : "");
    }
    // Of a contradiction of many cases only what the first is about: all others would stand there alone.
    nodes() {
      const { txns, arrows, cases } = this.explanation;
      return new Set([...(cases ? arrows.flatMap((a) => [a.from, a.to]) : txns), ...this.near]);
    }
    selected() { return here(this.file) && state.why === this.number && state.edge !== undefined; }

    // A row may be longer than a box is worth being wide; the whole of it is the title.
    short(text) { return text.length > 44 ? `${text.slice(0, 43)}…` : text; }

    lines(t) {
      const telling = t.ops.filter((op) => op.tells), shown = (telling.length ? telling : t.ops).slice(0, 6);
      const left = t.ops.length + (t.more || 0) - shown.length;
      return [...(t.level ? [{ text: t.level }] : []), ...shown, ...(left > 0 ? [{ text: `… ${left} more` }] : [])];
    }

    layOut() {
      const g = new dagre.graphlib.Graph({ multigraph: true });
      g.setGraph({ rankdir: "TB", nodesep: 36, edgesep: 24, ranksep: 44, marginx: 12, marginy: 12 });
      const ids = this.nodes();
      for (const id of ids) {
        const t = this.file.byId.get(id), lines = this.lines(t);
        const widest = Math.max(width(t.name, "600 13px system-ui, sans-serif"), ...lines.map((op) => width(this.short(op.text), "12px ui-monospace, monospace")));
        g.setNode(String(id), { width: widest + 24, height: 28 + 16 * lines.length });
      }
      this.shown = this.arrows().filter(({ arrow }) => ids.has(arrow.from) && ids.has(arrow.to) && arrow.from !== arrow.to);
      // A long cycle goes down on one side and back up on the other: dagre is told the second half the other way round.
      const cycle = this.shown.filter(({ arrow }) => arrow.cycle);
      if (cycle.length > 4) for (const shown of cycle.slice(Math.ceil(cycle.length / 2))) shown.turned = true;
      for (const [i, shown] of this.shown.entries()) {
        const { arrow } = shown, [v, w] = shown.turned ? [arrow.to, arrow.from] : [arrow.from, arrow.to];
        g.setEdge(String(v), String(w), { width: width(this.words(arrow), "600 12px system-ui, sans-serif") + 12, height: 20, labelpos: "c" }, String(i));
      }
      dagre.layout(g);
      this.paint(g);
    }

    paint(g) {
      const size = g.graph();
      this.picture.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
      this.picture.setAttribute("width", size.width);
      this.picture.style.minWidth = `${Math.round(size.width * 0.75)}px`;  // on a narrow page it scrolls rather than be too small to read
      const lines = draw("g"), labels = draw("g");
      this.shown.forEach((shown, i) => {
        const [v, w] = shown.turned ? [shown.arrow.to, shown.arrow.from] : [shown.arrow.from, shown.arrow.to];
        const place = g.edge({ v: String(v), w: String(w), name: String(i) });
        if (shown.turned) place.points.reverse();
        const { arrow, label } = this.drawArrow(shown, place);
        lines.append(arrow);
        labels.append(label);
      });
      const boxes = [...this.nodes()].map((id) => this.drawNode(this.file.byId.get(id), g.node(String(id))));
      this.picture.replaceChildren(lines, ...boxes, labels);
      this.mark();
    }

    drawArrow({ arrow, index }, place) {
      const path = through(place.points);
      const style = index === undefined ? "near" : arrow.refuted ? "refuted" : arrow.cycle ? "strong" : "dashed";
      const about = { "data-edge": index, onmouseenter: () => this.light(arrow), onmouseleave: () => this.light(),
        onfocusin: () => this.light(arrow), onfocusout: () => this.light() };
      const drawn = draw("g", { class: "edge", ...about }, draw("path", { d: path, class: "hit" }),
        draw("path", { d: path, class: `arrow ${style}`, "marker-end": "url(#head)" }));
      const words = this.words(arrow);
      const label = draw("g", { class: "edge", ...about },
        draw("rect", { x: place.x - place.width / 2 + 3, y: place.y - 9, width: place.width - 6, height: 18, class: "behind" }),
        draw("text", { x: place.x, y: place.y + 4, class: `label ${style}`, "text-anchor": "middle" }, words));
      if (index !== undefined) {
        const select = () => change({ file: this.file.number, why: this.number, edge: index, txn: undefined });
        drawn.addEventListener("click", select);
        pressable(label, `${arrowName(this.file, arrow)}: ${words}`, select);
      }
      return { arrow: drawn, label };
    }

    drawNode(t, place) {
      const left = place.x - place.width / 2, top = place.y - place.height / 2;
      const group = draw("g", { class: `node ${t.outcome}${this.near.has(t.id) ? " near" : ""}`, "data-txn": t.id },
        draw("rect", { x: left, y: top, width: place.width, height: place.height, rx: 6, class: "txn" }),
        draw("text", { x: place.x, y: top + 18, class: "name", "text-anchor": "middle" }, t.name));
      this.lines(t).forEach((op, i) => group.append(draw("text",
        { x: place.x, y: top + 35 + 16 * i, class: "op", "text-anchor": "middle", "data-key": op.key }, this.short(op.text), draw("title", {}, op.text))));
      return pressable(group, `${t.name}, ${t.outcome}`, () => change({ file: this.file.number, txn: t.id, why: this.number, edge: undefined }));
    }

    // The transactions of an arrow, and their operations on its key.
    light(arrow) {
      for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
      if (!arrow) return;
      for (const id of [arrow.from, arrow.to]) {
        for (const bar of document.querySelectorAll(`#f${this.file.number} .rows [data-txn="${id}"]`)) bar.classList.add("lit");
        const node = this.picture.querySelector(`.node[data-txn="${id}"]`);
        node.classList.add("lit");
        for (const op of node.querySelectorAll(".op")) if (op.dataset.key === arrow.key && arrow.key !== undefined) op.classList.add("lit");
      }
    }

    showNear(id) {
      const own = this.file.links.filter((l) => l.from === id || l.to === id).flatMap((l) => [l.from, l.to]);
      for (const other of own.filter((n) => !this.nodes().has(n)).slice(0, 12)) this.near.add(other);
      this.layOut();
    }
    hideNear() {
      this.near.clear();
      this.layOut();
    }

    mark() {
      for (const node of this.picture.querySelectorAll(".node")) {
        const id = Number(node.dataset.txn);
        node.classList.toggle("selected", here(this.file) && state.txn === id);
        node.classList.toggle("dim", !matches(this.file, this.file.byId.get(id)));
      }
      for (const edge of this.picture.querySelectorAll(".edge"))
        edge.classList.toggle("selected", this.selected() && Number(edge.dataset.edge) === state.edge);
    }

    update() {
      const refuted = this.arrows().filter(({ arrow }) => arrow.refuted).length;
      if (refuted !== this.shown.filter(({ arrow }) => arrow.refuted).length) this.layOut();
      else this.mark();
    }
  }

  // Inspector.

  class Inspector {
    constructor(file, graph) {
      Object.assign(this, { file, graph });
      this.panel = el("div", { class: "inspector", "aria-live": "polite", hidden: "" });
    }

    update() {
      const mine = here(this.file) && (this.graph ? state.why === this.graph.number : state.why === undefined);
      const arrow = mine && this.graph && state.edge !== undefined ? this.graph.explanation.arrows[state.edge] : undefined;
      const txn = mine && state.txn !== undefined ? this.file.byId.get(state.txn) : undefined;
      this.panel.hidden = !arrow && !txn;
      const close = button("Close", () => change({ txn: undefined, edge: undefined, why: undefined }));
      if (arrow) this.panel.replaceChildren(...this.ofArrow(arrow), close);
      else if (txn) this.panel.replaceChildren(...this.ofTransaction(txn), close);
    }

    ofArrow(arrow) {
      const own = state.edge, all = this.graph.explanation.arrows;
      const reasons = all.map((a, index) => ({ a, index })).filter(({ a, index }) => index !== own && a.supports?.includes(own));
      const item = ({ a, index }) => el("li", {}, button(arrowName(this.file, a), () => change({ edge: index })), ` ${arrowLabel(a)}: ${a.because}`);
      const list = (title, items) => items.length ? [el("p", {}, title), el("ul", {}, ...items.map(item))] : [];
      const also = this.graph.joined(arrow);
      return [el("h4", {}, `${arrowName(this.file, arrow)}: ${this.graph.words(arrow)}`), el("p", { class: "reason" }, `${arrow.because}.`),
        ...(also ? [el("p", { class: "reason" }, `${also.because}.`)] : []),
        ...list("It rests on:", reasons.filter(({ a }) => !a.refuted)),
        ...list("The alternative, which is refuted:", reasons.filter(({ a }) => a.refuted))];
    }

    ofTransaction(t) {
      const facts = [`session ${t.session}`, t.outcome, t.line ? `line ${t.line}` : "", t.level || "",
        this.file.timed && t.end !== undefined ? `from ${duration(t.begin)} to ${duration(t.end)}` : "", t.meta || ""];
      const neighbours = this.file.links.filter((l) => l.from === t.id || l.to === t.id).slice(0, 40);
      const words = (l) => l.kind === "session" ? (l.from === t.id ? "next in its session" : "before it in its session")
        : l.from === t.id ? `read ${l.key} from it` : `it read ${l.key} from there`;
      const item = (l) => {
        const other = this.file.byId.get(l.from === t.id ? l.to : l.from);
        return el("li", {}, button(other.name, () => change({ txn: other.id })), ` ${words(l)}`);
      };
      const draws = this.graph ? [button("Draw neighbours", () => this.graph.showNear(t.id), { class: "neighbours" }),
        button("Only the violation", () => this.graph.hideNear())] : [];
      return [el("h4", {}, t.name), el("p", { class: "quiet" }, facts.filter(Boolean).join(", ")),
        el("p", {}, ...t.ops.flatMap((op) => [el("code", { class: op.tells ? "tells" : "" }, op.text), " "]), t.more ? `and ${t.more} more` : ""),
        ...(neighbours.length ? [el("p", {}, "Next to it:"), el("ul", {}, ...neighbours.map(item))] : []), ...draws];
    }
  }

  // What the filter found.

  class Finder {
    constructor(file) {
      this.file = file;
      this.input = el("input", { type: "search", placeholder: "key:x  session:s1  txn:s1-4  any text", "aria-label": "Find transactions",
        oninput: () => change({ file: file.number, find: this.input.value }) });
      this.count = el("span", { class: "quiet count", "aria-live": "polite" });
      this.found = el("p", { class: "found" });
      this.panel = el("div", { class: "finder" }, el("label", {}, "Find ", this.input), " ", this.count, this.found);
    }
    update() {
      const mine = here(this.file) && state.find.trim();
      if (here(this.file) && this.input.value !== state.find) this.input.value = state.find;
      const found = this.file.txns.filter((t) => matches(this.file, t));
      const { txns, count } = this.file, left = count > txns.length ? `; the run has ${count.toLocaleString("en")}, of which the others cannot be found here` : "";
      this.count.textContent = mine ? `${found.length} of the ${txns.length} transactions on this page${left}` : "";
      this.found.replaceChildren(...(mine ? found.slice(0, 60) : []).flatMap((t) =>
        [button(t.name, () => change({ file: this.file.number, txn: t.id, why: undefined, edge: undefined }), { title: t.ops.map((op) => op.text).join(" ") }), " "]));
    }
  }

  // Player.

  class Player {
    constructor(file) {
      this.file = file;
      this.events = file.order.events;
      this.slider = el("input", { type: "range", min: 0, max: this.events.length, "aria-label": "Place in the order",
        oninput: () => this.go(Number(this.slider.value)) });
      this.playing = button("Play", () => this.toggle());
      this.text = el("p", { class: "step", "aria-live": "polite" });
      this.held = el("table", { class: "state" });
      const cut = file.order.total > this.events.length ? ` Its first ${this.events.length} steps of ${file.order.total.toLocaleString("en")} are here.` : "";
      this.panel = el("details", { class: "player" }, el("summary", {}, `The order that proves ${file.order.level}, step by step`),
        el("p", { class: "quiet" }, `The certificate is an order of the transactions that explains every read. Play it to see what each one saw and left behind.${cut}`),
        el("div", { class: "buttons" }, button("Previous", () => this.go(this.step() - 1)), button("Next", () => this.go(this.step() + 1)), this.playing, this.slider),
        this.text, this.held);
      if (state.step !== undefined && here(file)) this.panel.open = true;
    }
    step() { return here(this.file) && state.step !== undefined ? Math.min(Math.max(0, state.step), this.events.length) : 0; }
    go(step) {
      if (step >= 0 && step <= this.events.length) change({ file: this.file.number, step });
      else this.stop();
    }
    toggle() {
      if (this.timer) return this.stop();
      this.timer = setInterval(() => this.go(this.step() + 1), 700);
      this.playing.textContent = "Pause";
    }
    stop() {
      clearInterval(this.timer);
      this.timer = undefined;
      this.playing.textContent = "Play";
    }
    // Of an event: its transaction, and which of its operations happen there.
    at(i) {
      const split = this.file.order.split, event = this.events[i];
      const t = this.file.byId.get(split ? Math.floor(event / 2) : event), writes = split && event % 2 === 1;
      return { t, does: split ? (writes ? "writes" : "reads") : "", ops: t.ops.filter((op) => !split || (op.does !== undefined) === writes) };
    }
    stateAfter(count) {
      const state_ = new Map();
      for (let i = 0; i < count; ++i) {
        const { t, does, ops } = this.at(i);
        if (does === "reads") continue;
        for (const op of ops.filter((o) => o.does)) {
          const before = state_.get(op.key);
          state_.delete(op.key);  // the latest last
          state_.set(op.key, { by: t.name, value: op.does === "remove" ? "deleted" : op.does === "append"
            ? [...(Array.isArray(before?.value) ? before.value : []), op.value] : op.value });
        }
      }
      return state_;
    }
    update() {
      const step = this.step();
      if (step === this.events.length) this.stop();
      this.slider.value = step;
      if (step === 0) this.text.replaceChildren("Before the first transaction.");
      else {
        const { t, does, ops } = this.at(step - 1);
        this.text.replaceChildren(`Step ${step} of ${this.events.length}: `, el("strong", {}, t.name), ` ${does} `,
          ...ops.flatMap((op) => [el("code", {}, op.text), " "]), t.more ? `and ${t.more} more that are not on this page` : "");
      }
      const rows = [...this.stateAfter(step)].slice(-12).reverse().map(([key, { by, value }]) =>
        el("tr", {}, el("td", {}, key), el("td", {}, Array.isArray(value) ? `[${value.join(",")}]` : value), el("td", {}, by)));
      this.held.replaceChildren(...(rows.length ? [el("tr", {}, el("th", {}, "key"), el("th", {}, "holds"), el("th", {}, "left by"))] : []), ...rows);
    }
  }

  // The page.

  function build(file, number) {
    const article = document.getElementById(`f${number}`);
    if (!file || !article) return;
    file.number = number;
    file.byId = new Map(file.txns.map((t) => [t.id, t]));
    const timeline = new Timeline(file), finder = new Finder(file), inspector = new Inspector(file);
    article.querySelector(".run").append(el("h3", {}, "The run"), finder.panel, timeline.panel, inspector.panel);
    views.push(timeline, finder, inspector);
    file.explanations.forEach((explanation, i) => {
      const section = document.getElementById(`f${number}e${i}`);
      if (!section || !explanation.arrows.length) return;
      const graph = new Graph(file, explanation, i), detail = new Inspector(file, graph);
      section.querySelector(".dependencies").replaceWith(graph.panel);
      graph.panel.after(detail.panel);
      views.push(graph, detail);
    });
    if (file.order) {
      const player = new Player(file);
      article.querySelector(".run").append(player.panel);
      views.push(player);
    }
  }

  // Where a link leads to comes into view.
  function follow() {
    readAddress();
    for (const view of views) view.update();
    const shown = document.querySelector(".inspector:not([hidden])");
    if (location.hash && shown) shown.scrollIntoView({ block: "center" });
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement;
    if (event.key === "/" && !typing) {
      event.preventDefault();
      document.querySelector(".finder input")?.focus();
    } else if (event.key === "Escape") {
      change({ txn: undefined, edge: undefined, why: undefined, ...(typing ? { find: "" } : {}) });
    }
  });

  readAddress();
  document.documentElement.classList.add("scripted");
  files.forEach(build);
  follow();
  window.addEventListener("hashchange", follow);
})();
