// The style of the HTML report: follows the reader's light or dark setting.
#pragma once

namespace assay::internal {

inline constexpr char kHtmlStyle[] = R"css(
:root{--bg:#fbfbf9;--fg:#1c2024;--quiet:#646b73;--line:#d9d9d3;--card:#fff;
--ok:#1a7f4b;--okbg:#dff3e7;--bad:#b3261e;--badbg:#fbe3e1;--open:#8a6100;--openbg:#fbf0d2;--accent:#2455a4}
@media(prefers-color-scheme:dark){:root{--bg:#15181b;--fg:#e6e8ea;--quiet:#9aa3ab;--line:#343a40;--card:#1d2125;
--ok:#6fd39d;--okbg:#173626;--bad:#ff9a92;--badbg:#45201d;--open:#f0c869;--openbg:#3d3218;--accent:#8fb4f5}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
header{padding:14px 24px;border-bottom:1px solid var(--line);font-weight:700}
header span{font-weight:400;color:var(--quiet);margin-left:8px}
main{max-width:1120px;margin:0 auto;padding:0 24px 60px}
h2{margin:28px 0 4px;overflow-wrap:anywhere}h3{margin:0 0 4px;font-size:1.15em}
.lead{font-size:1.2em;margin:4px 0}.quiet,figcaption,small{color:var(--quiet)}
.story{font-size:1.08em;max-width:75ch}.hint{color:var(--open)}
section,details{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:18px 22px;margin:18px 0}
.side{display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start}
figure{margin:14px 0;max-width:100%;overflow-x:auto}figcaption{font-size:.88em}
svg{max-width:100%;height:auto;font:12px system-ui,sans-serif}
table{border-collapse:collapse;font-size:.94em}th{text-align:left;font-weight:600;color:var(--quiet)}
td,th{padding:3px 14px 3px 0;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}
td:last-child{white-space:normal;overflow-wrap:anywhere;width:100%}
.wide{width:100%}.side table{flex:1 1 340px;max-width:470px}.side figure{flex:0 1 auto}code{font:13px ui-monospace,monospace}
.chip{white-space:nowrap;padding:1px 8px;border-radius:10px;font-size:.9em}
.chip.satisfied{background:var(--okbg);color:var(--ok)}
.chip.violated{background:var(--badbg);color:var(--bad)}
.chip.unknown{background:var(--openbg);color:var(--open)}
summary{cursor:pointer;font-weight:600}li.quiet{color:var(--quiet)}
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

}  // namespace assay::internal
