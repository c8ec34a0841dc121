"use strict";
// Points of the course that a mean is taken over.
const WINDOW = 16;
// The token stands after # so that it is never sent to anyone but this service.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
const $ = id => document.getElementById(id);
async function load(path) {
  const headers = token ? {Authorization: "Bearer " + token} : {};
  const answer = await fetch(path, {headers});
  if (answer.status === 401) throw new Error("a token is needed: add #token=… to the address");
  if (!answer.ok) throw new Error(path + " answered " + answer.status);
  return answer.json();
}
// Control characters, marks of direction and halves of letters are shown, not obeyed.
const shown = text => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
  letter => "\\u{" + letter.codePointAt(0).toString(16) + "}");
function cell(row, text, kind) {
  const made = row.insertCell();
  made.textContent = shown(text);
  if (kind) made.className = kind;
  return made;
}
const number = value => value === null ? "–" : value.toFixed(4);
// A portfolio of names speaks of quality and prices, one of programs of costs.
const isNames = status => status.rewards || status.trade !== null;
const value = (status, cost) => cost === null ? null : status.rewards ? 1 - cost : cost;
function drawArms(status, course) {
  const names = isNames(status), word = status.rewards ? "quality" : "mean cost";
  const heads = ["arm", "state", names ? "calls" : "picked", names ? "best" : "won",
    names ? "price per call" : "failed", word, names ? "called next" : "picked next"];
  $("arms").tHead.rows[0].querySelectorAll("th").forEach((head, i) => head.textContent = heads[i]);
  const body = $("arms").tBodies[0];
  body.replaceChildren();
  for (const arm of status.arms) {
    const row = body.insertRow();
    const marks = arm.wrong ? ", " + arm.wrong + " wrong" : "";
    const price = arm.picked ? (arm.spent ?? 0) / arm.picked : null;
    cell(row, arm.name, "name"); cell(row, arm.state + marks, marks ? "lost" : ""); cell(row, arm.picked, "n");
    cell(row, arm.won, "n"); cell(row, names ? number(price) : arm.failed, "n");
    cell(row, number(value(status, arm.mean_cost)), "n");
    const share = cell(row, "", "share");
    const bar = document.createElement("span"), fill = document.createElement("i");
    bar.className = "bar"; fill.style.width = 100 * arm.share + "%";
    bar.append(fill); share.append(bar, Math.round(100 * arm.share) + " %");
  }
  const points = course.points, last = points.at(-1), first = points.at(-1 - WINDOW) ?? points[0];
  const rate = last && last[1] > first[1] ? (last[0] - first[0]) / (last[1] - first[1]) : null;
  $("summary").textContent = status.finished + " rounds finished, " + status.lost + " lost" +
    ", " + status.open +
    " tickets open; " + word + " " + number(value(status, status.mean_cost)) +
    (names ? ", price " + number(status.spent / Math.max(status.problems, 1)) : "") +
    (status.problems === status.finished ? " per round" : " per problem, " + status.problems + " problems") +
    "; " + (names && status.trade !== null ? "at most " : "") + status.budget +
    " of " + status.arms.filter(arm => arm.state === "active").length + " arms, learner " +
    status.learner;
  $("updated").textContent = last ? "Last result " + new Date(1000 * last[1]).toLocaleString() +
    (rate ? ", lately " + +rate.toPrecision(2) + " per second" : "") : "No result yet";
  $("frontier").replaceChildren(...(status.frontier ?? []).map(each => {
    const line = document.createElement("li");
    line.textContent = shown(each.arms.join(", ")) + ": quality " + number(1 - each.cost) +
      ", price " + number(each.price);
    return line;
  }));
  $("fixed").hidden = !status.frontier;
}
function drawRounds(status, rounds) {
  const worth = status.rewards ? "quality" : "cost";
  $("worth").textContent = worth;
  const body = $("rounds").tBodies[0];
  body.replaceChildren();
  for (const view of rounds.reverse()) {
    const row = body.insertRow();
    cell(row, view.round, "n"); cell(row, view.problem, "name"); cell(row, view.arms.join(", "));
    if (view.state === "lost") cell(row, "lost: " + view.reason, "lost");
    else cell(row, view.winner ?? (view.state === "open" ? "running" : "–"));
    const won = view.runs.find(run => run.arm === view.winner);
    const disputed = new Set(view.runs.map(run => run.verdict).filter(Boolean)).size > 1;
    cell(row, (disputed ? "! " : "") + (won?.verdict ?? ""), disputed ? "lost" : "");
    cell(row, number(value(status, view.cost)), "n");
  }
}
// The mean over a moving window of the points, in the order of finishing.
function drawCourse(status, course) {
  const svg = $("chart"), points = [[0, 0, 0, 0], ...course.points];
  $("charted").textContent = (status.rewards ? "Quality" : "Mean cost") +
    " over a moving window, in order of finishing";
  const width = svg.clientWidth || 800, height = 250, left = 38, bottom = 22;
  svg.setAttribute("viewBox", "0 0 " + width + " " + height);
  svg.replaceChildren();
  const make = (kind, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    svg.append(made);
  };
  const means = points.slice(1).map((point, i) => {
    const before = points[Math.max(0, i + 1 - WINDOW)];
    return [point[0], value(status, (point[2] - before[2]) / (point[0] - before[0]))];
  });
  const last = points.at(-1)[0] || 1;
  const x = finished => left + finished / last * (width - left - 8);
  // The axis ends at the largest mean: small costs are to be told apart, too.
  const top = Math.max(1e-6, ...means.map(each => each[1]));
  const y = cost => 8 + (1 - cost / top) * (height - bottom - 8);
  for (const share of [0, .25, .5, .75, 1]) {
    const cost = share * top;
    make("line", {x1: left, x2: width - 8, y1: y(cost), y2: y(cost), stroke: "#8884"});
    make("text", {x: 4, y: y(cost) + 4}, +cost.toPrecision(3));
  }
  make("text", {x: width - 8, y: height - 6, "text-anchor": "end"}, last + " finished");
  make("polyline", {points: means.map(each => x(each[0]) + "," + y(each[1])).join(" "),
    fill: "none", stroke: "var(--hero)", "stroke-width": 2.5});
}
async function refresh() {
  try {
    const [status, rounds, course] =
      await Promise.all([load("api/status"), load("api/history?last=20"), load("api/course")]);
    drawArms(status, course); drawRounds(status, rounds); drawCourse(status, course);
    $("error").textContent = "";
  } catch (problem) { $("error").textContent = problem.message; }
  setTimeout(refresh, 2000);
}
refresh();
