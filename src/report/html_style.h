// Styles that follow the reader's light or dark setting.
#pragma once

namespace assay::internal {

// Colours, and what the figures need.
inline constexpr char kFigureStyle[] = R"css(
:root{--bg:#fbfbf9;--fg:#1c2024;--quiet:#646b73;--line:#d9d9d3;--card:#fff;
--ok:#1a7f4b;--okbg:#dff3e7;--bad:#b3261e;--badbg:#fbe3e1;--open:#8a6100;--openbg:#fbf0d2;--accent:#2455a4}
@media(prefers-color-scheme:dark){:root{--bg:#15181b;--fg:#e6e8ea;--quiet:#9aa3ab;--line:#343a40;--card:#1d2125;
--ok:#6fd39d;--okbg:#173626;--bad:#ff9a92;--badbg:#45201d;--open:#f0c869;--openbg:#3d3218;--accent:#8fb4f5}}
svg{font:12px system-ui,sans-serif}
.level{stroke:var(--line);fill:var(--card)}
.level.satisfied{fill:var(--okbg);stroke:var(--ok)}.level.violated{fill:var(--badbg);stroke:var(--bad)}
.level.unknown{fill:var(--openbg);stroke:var(--open)}.level.best{stroke-width:3}
.txn{fill:var(--card);stroke:var(--accent);stroke-width:1.5}.txn.open{stroke-dasharray:4 3}
.event{fill:var(--bad)}.head{fill:var(--quiet)}
.arrow{fill:none;stroke:var(--quiet);stroke-width:1.3}.faint{stroke:var(--line)}
.strong{stroke:var(--bad);stroke-width:2.2}.dashed{stroke-dasharray:5 4}
text{fill:var(--fg)}.name{font-weight:600;font-size:13px}.small{fill:var(--quiet);font-size:11px}
.op{font-family:ui-monospace,monospace}
.label{fill:var(--quiet);paint-order:stroke;stroke:var(--card);stroke-width:4px}
)css";

// The rest of the HTML report.
inline constexpr char kHtmlStyle[] = R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
header{padding:14px 24px;border-bottom:1px solid var(--line);font-weight:700}
header span{font-weight:400;color:var(--quiet);margin-left:8px}
main{max-width:1120px;margin:0 auto;padding:0 24px 60px}
h2{margin:28px 0 4px;overflow-wrap:anywhere}h3{margin:0 0 4px;font-size:1.15em}
.lead{font-size:1.2em;margin:4px 0}.quiet,figcaption,small{color:var(--quiet)}
.story{font-size:1.08em;max-width:75ch}.hint{color:var(--open)}
.meaning{color:var(--quiet);max-width:75ch}.word{white-space:nowrap}
section,details{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:18px 22px;margin:18px 0}
.side{display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start}
figure{margin:14px 0;max-width:100%;overflow-x:auto}figcaption{font-size:.88em}
svg{max-width:100%;height:auto}
table{border-collapse:collapse;font-size:.94em}th{text-align:left;font-weight:600;color:var(--quiet)}
td,th{padding:3px 14px 3px 0;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}
td:last-child{white-space:normal;overflow-wrap:anywhere;width:100%}
td.levels{white-space:normal}
.scroll{overflow-x:auto}.wide{width:100%}.wide td:last-child{min-width:16em}.conflicts{padding-left:20px}.side table{flex:1 1 340px;max-width:470px}.side figure{flex:0 1 auto}code{font:13px ui-monospace,monospace}
.chip{white-space:nowrap;padding:1px 8px;border-radius:10px;font-size:.9em}
.chip.satisfied{background:var(--okbg);color:var(--ok)}
.chip.violated{background:var(--badbg);color:var(--bad)}
.chip.unknown{background:var(--openbg);color:var(--open)}
summary{cursor:pointer;font-weight:600}ol.cases{margin:6px 0;padding-left:22px}details.cases{margin:10px 0;padding:10px 18px}li.quiet{color:var(--quiet)}
.scripted .drawn{display:none}
.timeline,.dependencies{margin:14px 0}
.buttons{display:flex;flex-wrap:wrap;gap:6px;margin:8px 0;align-items:center}
button{font:inherit;font-size:.9em;color:var(--accent);background:var(--card);border:1px solid var(--line);border-radius:6px;padding:2px 10px;cursor:pointer}
button:hover{border-color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
input[type=search]{font:inherit;font-size:.94em;width:min(24em,100%);padding:4px 8px;color:var(--fg);background:var(--card);border:1px solid var(--line);border-radius:6px}
input[type=range]{flex:1 1 200px}
.strip,.rows{display:block;width:100%}.strip{cursor:crosshair;touch-action:pan-y}
.bar.committed{fill:var(--ok);opacity:.55}.bar.unknown{fill:var(--open)}
.bar.aborted{fill:var(--bad)}.bar.r1{opacity:.7}.bar.r2{opacity:.45}
.axis{stroke:var(--line);fill:none}.brush{fill:var(--accent);fill-opacity:.13;stroke:var(--accent)}
.violation{cursor:pointer}.violation path{stroke:var(--bad);stroke-width:1.5}.violation circle{fill:var(--bad)}
.fault{stroke:var(--bad);stroke-dasharray:2 3}.prefix path,path.prefix{stroke:var(--ok);stroke-width:2}
g.txn{cursor:pointer;stroke:none}g.txn>rect{fill:var(--bg);stroke:var(--quiet);stroke-width:1}
g.txn.named>rect{fill:var(--card);stroke:var(--accent);stroke-width:1.8}g.txn.open>rect,.node.unknown>rect{stroke-dasharray:4 3}
g.txn.aborted>rect,.node.aborted>rect{stroke:var(--bad);stroke-dasharray:2 2}
g.txn.accepted>rect{fill:var(--okbg);stroke:var(--ok)}g.txn.rejected>rect{fill:var(--badbg);stroke:var(--bad)}
g.txn>rect.op{fill:none;stroke:var(--line)}g.txn>rect.op.tells{stroke:var(--accent)}text.op{font-size:12px}.rows text.op{font-size:11px}
.node,.edge[role],.edge .hit{cursor:pointer}.hit{fill:none;stroke:transparent;stroke-width:14}
.node.near>rect{stroke:var(--quiet);stroke-width:1}.near{color:var(--quiet)}
.behind{fill:var(--card);stroke:none}.edge .near{stroke-dasharray:1 4}.edge text.label{stroke-width:5px;stroke-dasharray:none;fill:var(--fg)}
.edge text.strong{fill:var(--bad);stroke:var(--card)}.edge text.near,.edge text.dashed{fill:var(--quiet);stroke:var(--card)}
.refuted{stroke:var(--open);stroke-dasharray:2 4;stroke-width:2}.edge text.refuted{fill:var(--open);stroke:var(--card)}
.edge:hover .arrow,.edge.selected .arrow{stroke-width:3.4}.edge.selected text,.edge:hover text{font-weight:600}
.selected>rect:not(.op),.lit>rect:not(.op){stroke-width:3}text.op.lit{fill:var(--bad);font-weight:700}.dim{opacity:.22}
.inspector{border-left:3px solid var(--accent);padding:4px 16px;margin:12px 0;overflow-wrap:anywhere}.inspector h4{margin:4px 0}
.inspector code.tells{font-weight:700}.inspector li{margin:3px 0}.state td,.state th{width:auto!important}.found button{margin:2px 0}
@media(max-width:640px){main{padding:0 12px 40px}section,details{padding:12px 14px}}
@media print{.scroll{overflow:visible}.graph{min-width:0!important}.wide td:last-child{min-width:0}body{background:#fff;color:#000}figure,li,tr,p{break-inside:avoid}h1,h2,h3,thead{break-after:avoid}button,.finder,.buttons,.player{display:none}header{border:0}}
)css";

}  // namespace assay::internal
