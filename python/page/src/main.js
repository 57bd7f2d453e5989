// The page: its tabs, and links into it.
import { Run } from "./data/run.js";
import { checks } from "./pages/checks.js";
import { communication } from "./pages/communication.js";
import { files } from "./pages/files.js";
import { iterations } from "./pages/iterations.js";
import { summary } from "./pages/summary.js";
import { where } from "./pages/where.js";
import { element, printable } from "./text.js";
import { Timeline } from "./timeline/timeline.js";

const TABS = { summary: "Summary", timeline: "Timeline", where: "Where", iterations: "Iterations", communication: "Communication", files: "Files", checks: "Checks" };
const HASH_DELAY = 250; // milliseconds: browsers refuse links that change all the time

const run = new Run();
const panels = Object.fromEntries(Object.keys(TABS).map((name) => [name, document.getElementById(`panel-${name}`)]));
let shown = null;
let written = "";
let hashTimer = null;

const timeline = new Timeline(run, panels.timeline, () => {
  clearTimeout(hashTimer);
  hashTimer = setTimeout(writeHash, HASH_DELAY);
});

/** #timeline&from=0.5&to=0.6&find=Send: seconds after the beginning of the run. */
function writeHash() {
  if (shown !== "timeline") return;
  const parts = ["timeline", `from=${(timeline.view.begin / 1e9).toFixed(9)}`, `to=${(timeline.view.end / 1e9).toFixed(9)}`];
  if (timeline.search.value) parts.push(`find=${encodeURIComponent(timeline.search.value)}`);
  written = `#${parts.join("&")}`;
  history.replaceState(null, "", written);
}

function readHash() {
  if (location.hash && location.hash === written) return;
  const [name, ...rest] = location.hash.slice(1).split("&");
  show(Object.hasOwn(TABS, name) ? name : "summary");
  const values = new URLSearchParams(rest.join("&"));
  const [from, to] = [Number(values.get("from")) * 1e9, Number(values.get("to")) * 1e9];
  if (values.has("to") && to > from) timeline.view.show(from, to);
  if (values.get("find")) timeline.find((timeline.search.value = values.get("find")));
  if (shown === "timeline") timeline.draw();
}

function show(name) {
  shown = name;
  for (const [other, panel] of Object.entries(panels)) panel.hidden = other !== name;
  for (const tab of document.querySelectorAll("nav a")) {
    if (tab.hash.slice(1) === name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (name === "timeline") timeline.resize();
}

function openTimeline(act) {
  location.hash = "#timeline";
  show("timeline");
  act();
  timeline.draw();
  timeline.canvas.focus();
}

/** Shows the first call where a cause is. */
function openCause(row) {
  openTimeline(() => {
    const text = row.site?.file ?? row.call ?? `rank ${row.rank}`;
    timeline.find((timeline.search.value = text));
    timeline.findNext();
  });
}

async function start() {
  document.title = `${printable(run.name)} - hdtrace report`;
  document.querySelector("header h1").textContent = printable(run.name);
  document.querySelector("nav").append(...Object.entries(TABS).map(([name, text]) => element("a", { href: `#${name}` }, text)));
  panels.summary.append(summary(run, openCause));
  panels.where.append(where(run, (text) => openTimeline(() => timeline.find((timeline.search.value = text)))));
  const showTime = (begin, end) => openTimeline(() => timeline.goTo(begin, end));
  panels.iterations.append(iterations(run, showTime));
  panels.files.append(files(run, showTime));
  panels.checks.append(checks(run));
  readHash();
  window.addEventListener("hashchange", readHash);
  await timeline.load();
  panels.communication.append(communication(run, showTime));
  readHash();
  document.documentElement.dataset.ready = "yes";
}

window.hdtrace = { run, timeline }; // for who looks inside with the browser's tools
start().catch((error) => {
  document.getElementById("problem").hidden = false;
  document.getElementById("problem").textContent = `This page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`;
  throw error;
});
