// The whole page: its tabs, the choice of a run, and links into it.
import { accessesOf } from "./data/accesses.js";
import { Run } from "./data/run.js";
import { DocumentSource, page, ServerSource } from "./data/source.js";
import { compare } from "./pages/compare.js";
import { PAGES, RunPages } from "./run_pages.js";
import { element, printable, textNodes } from "./text.js";

const HASH_DELAY = 250; // milliseconds: browsers refuse links that change all the time

const about = page();
const tabs = { ...(about.comparison ? { compare: "Compare" } : {}), ...PAGES };
const panels = Object.fromEntries(Object.keys(tabs).map((name) => [name, element("div", { id: `panel-${name}`, hidden: true })]));
const runs = []; // of each its pages
let chosen = 0;
let shown = null;
let written = "";
let hashTimer = null;

const timeline = () => runs[chosen].timeline;

/** #timeline&run=2&from=0.5&to=0.6&find=Send: the first run is 1; times are seconds after its beginning. */
function writeHash() {
  if (shown !== "timeline") return;
  const { view, search } = timeline();
  const parts = ["timeline", `from=${(view.begin / 1e9).toFixed(9)}`, `to=${(view.end / 1e9).toFixed(9)}`];
  if (runs.length > 1) parts.push(`run=${chosen + 1}`);
  if (search.value) parts.push(`find=${encodeURIComponent(search.value)}`);
  written = `#${parts.join("&")}`;
  history.replaceState(null, "", written);
}

function readHash() {
  if (location.hash && location.hash === written) return;
  const [name, ...rest] = location.hash.slice(1).split("&");
  const values = new URLSearchParams(rest.join("&"));
  if (runs[values.get("run") - 1]) chosen = values.get("run") - 1;
  show(Object.hasOwn(tabs, name) ? name : Object.keys(tabs)[0]);
  const [from, to] = [Number(values.get("from")) * 1e9, Number(values.get("to")) * 1e9];
  if (values.has("to") && to > from) timeline().view.show(from, to);
  if (values.get("find")) timeline().find((timeline().search.value = values.get("find")));
  if (shown === "timeline") timeline().draw();
}

function show(name) {
  shown = name;
  for (const [other, panel] of Object.entries(panels)) panel.hidden = other !== name;
  for (const tab of document.querySelectorAll("nav a")) {
    if (tab.hash.slice(1) === name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  const choice = document.getElementById("run");
  if (choice) {
    choice.value = String(chosen);
    choice.parentNode.hidden = name === "compare";
  }
  if (name === "compare") return comparison.show();
  panels[name].replaceChildren(runs[chosen].page(name));
  if (name === "timeline") timeline().resize();
}

function goToTimeline(number) {
  chosen = number;
  location.hash = "#timeline";
  show("timeline");
}

function moved() {
  clearTimeout(hashTimer);
  hashTimer = setTimeout(writeHash, HASH_DELAY);
}

function chooseRun() {
  const options = about.runs.map((label, number) => element("option", { value: number }, label));
  const change = (event) => {
    chosen = Number(event.target.value);
    show(shown);
    moved();
  };
  return element("label", { class: "choice" }, "Run ", element("select", { id: "run", onchange: change }, options));
}

let comparison = null;

async function start() {
  for (const number of about.runs.keys()) {
    const source = new (about.is_served ? ServerSource : DocumentSource)(number);
    const run = new Run(source, await source.facts(), about.is_served);
    runs.push(new RunPages(run, () => goToTimeline(number), moved));
  }
  const title = [...new Set(runs.map((one) => one.run.name))].join(", ");
  document.title = `${printable(title)} - hdtrace report`;
  document.querySelector("header h1").append(...textNodes(title));
  document.querySelector("nav").append(...Object.entries(tabs).map(([name, text]) => element("a", { href: `#${name}` }, text)));
  if (runs.length > 1) document.querySelector("header").append(chooseRun());
  document.querySelector("main").append(...Object.values(panels));
  if (about.comparison) {
    comparison = compare(about, runs.map((one) => one.run), goToTimeline);
    panels.compare.append(comparison.element);
  }
  readHash();
  window.addEventListener("hashchange", readHash);
  for (const { timeline } of runs) await timeline.load();
  await comparison?.load();
  readHash();
  document.documentElement.dataset.ready = "yes";
}

// For who looks inside with the browser's tools.
window.hdtrace = {
  get run() {
    return runs[chosen].run;
  },
  get timeline() {
    return timeline();
  },
  get comparison() {
    return comparison;
  },
  accessesOf: (number) => accessesOf(runs[chosen].run.source, number),
};
function fail(error) {
  const problem = document.getElementById("problem");
  problem.hidden = false;
  problem.textContent = `This page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`;
}

window.addEventListener("unhandledrejection", (event) => fail(event.reason));
start();
