"""The style of the page: dark text on light, readable on a phone and in print."""

CSS = """
:root { --ink: #1c2430; --soft: #5a6572; --rule: #d9dee4; --tint: #f5f7f9; --link: #00527f;
  --good: #00664a; --bad: #a33b00; }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body { margin: 0; color: var(--ink); background: #fff; line-height: 1.55;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
a { color: var(--link); }
code { background: var(--tint); padding: .1em .3em; border-radius: 3px; font-size: .9em;
  overflow-wrap: anywhere; }
.frame { max-width: 76rem; margin: 0 auto; padding: 0 1rem; }
header.top { border-bottom: 1px solid var(--rule); background: var(--tint); }
header.top .frame { padding-top: 1.8rem; padding-bottom: 1.4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .6rem; }
h2 { font-size: 1.5rem; line-height: 1.25; margin: 3rem 0 .6rem; padding-top: .6rem;
  border-top: 3px solid var(--ink); }
h3 { font-size: 1.15rem; line-height: 1.3; margin: 2.4rem 0 .6rem; }
h2, h3 { scroll-margin-top: .6rem; }
h3 a.self { color: inherit; text-decoration: none; }
h3 a.self:hover::after { content: " #"; color: var(--soft); }
p { margin: .6rem 0; max-width: 46rem; }
.facts { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: .8rem 0 0; padding: 0;
  list-style: none; color: var(--soft); font-size: .9rem; }
.layout { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2.5rem; }
nav { font-size: .9rem; line-height: 1.4; }
nav .inner { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 1.6rem 0; }
nav ol { list-style: none; margin: 0; padding: 0; }
nav ol ol { margin: .15rem 0 .7rem .8rem; }
nav a { text-decoration: none; display: inline-block; padding: .12rem 0; }
nav a:hover { text-decoration: underline; }
nav summary { display: none; }
.verdict { border-left: 4px solid var(--soft); background: var(--tint); padding: .7rem .9rem;
  margin: .8rem 0 1rem; max-width: 46rem; }
.verdict.yes { border-color: var(--good); }
.verdict.no { border-color: var(--bad); }
.verdict .statement { font-weight: 600; }
.badge { display: inline-block; font-size: .78rem; font-weight: 600; padding: .05rem .5rem;
  border-radius: 1rem; border: 1px solid currentColor; white-space: nowrap; color: var(--soft); }
.badge.yes { color: var(--good); }
.badge.no { color: var(--bad); }
sup, sub { line-height: 0; font-size: .75em; }
figure { margin: 1.2rem 0; max-width: 40rem; }
figure img { width: 100%; height: auto; display: block; }
figcaption, .note { color: var(--soft); font-size: .9rem; max-width: 46rem; }
/* Shadows at the edges show that a table goes on. */
.wide { overflow-x: auto; margin: 1rem 0 .4rem; max-width: max-content; width: 100%;
  background: linear-gradient(to right, #fff 30%, #fff0) left / 2.5rem 100% no-repeat local,
    linear-gradient(to left, #fff 30%, #fff0) right / 2.5rem 100% no-repeat local,
    linear-gradient(to right, #0003, #0000) left / .7rem 100% no-repeat scroll,
    linear-gradient(to left, #0003, #0000) right / .7rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .35rem; white-space: nowrap; }
th, td { padding: .28rem .65rem; text-align: right; white-space: nowrap; }
thead th { font-weight: 600; border-bottom: 1px solid var(--ink); vertical-align: bottom; }
thead tr.groups th { border-bottom: 1px solid var(--rule); text-align: center;
  color: var(--soft); font-weight: 500; }
tbody td, tbody th { border-bottom: 1px solid var(--rule); }
td.text, th.text { text-align: left; }
tbody th { font-weight: 500; text-align: left; position: sticky; left: 0; background: #fff; }
th.first, td.first { border-left: 1px solid var(--rule); }
td.marked { font-weight: 700; color: var(--bad); }
table.summary { font-size: .92rem; }
table.summary td, table.summary th { white-space: normal; text-align: left; vertical-align: top; }
table.summary tbody th { position: static; width: 34%; max-width: none; }
.found li { margin: .5rem 0; max-width: 46rem; }
.missing { border: 1px dashed var(--soft); padding: .6rem .9rem; max-width: 46rem; }
footer { margin: 3rem 0 2rem; color: var(--soft); font-size: .9rem; }
@media screen and (max-width: 60rem) {
  .layout { grid-template-columns: minmax(0, 1fr); gap: 0; }
  nav .inner { position: static; max-height: none; padding: .8rem 0 0; }
  nav summary { display: block; font-weight: 600; cursor: pointer; padding: .5rem 0; }
  nav a { padding: .3rem 0; }
  nav ol ol { display: none; }
  figure { margin-left: -.5rem; margin-right: -.5rem; }
  figcaption { padding: 0 .5rem; }
  th, td { padding: .28rem .5rem; }
  tbody th { white-space: normal; max-width: 8.5rem; min-width: 2rem; }
  h1 { font-size: 1.5rem; }
  h2 { font-size: 1.3rem; }
  table.summary thead { display: none; }
  table.summary tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  table.summary td, table.summary tbody th { display: block; width: auto; border: 0;
    padding: .1rem 0; }
}
@media print {
  body { font-size: 10pt; }
  header.top, .verdict, code { background: none; }
  nav { display: none; }
  .layout { display: block; }
  .wide { overflow: visible; background: none; }
  table { font-size: 8pt; }
  th, td { padding: .15rem .4rem; }
  tbody th { position: static; }
  h2 { break-before: page; }
  #in-short { break-before: auto; }
  h2, h3, caption { break-after: avoid; }
  figure, .verdict, .wide, tr { break-inside: avoid; }
  figure { max-width: 14cm; }
  a { color: inherit; text-decoration: none; }
}
"""
