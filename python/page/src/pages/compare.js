// Several runs beside each other: how the program scales, where they differ, their timelines.
import { duration, element, percent, place, seconds, siteText } from "../text.js";
import { figure } from "../figures/figure.js";
import { table } from "../table.js";
import { Timeline } from "../timeline/timeline.js";
import { EFFICIENCIES, efficiency } from "./summary.js";

const SCALING = [
  ["global_efficiency", "global efficiency", "Computational scalability times parallel efficiency: what the whole makes of more processes."],
  ["computational_scalability", "computational scalability", "How much computation all processes of the first run did for each second of this run: 1 if more processes share the same work."],
];
const TIMES = { seconds: "time", computation: "computation", mpi: "time in MPI", waiting: "waiting" };
const MOST_HEIGHT = 260; // pixels of a timeline

function change(value, first) {
  if (!(first > 0)) return "";
  return ` (${value >= first ? "+" : "−"}${percent(Math.abs(value / first - 1))})`;
}

function scaling(about, runs) {
  const part = ([key, name, help]) => [name, runs.map((run) => efficiency(run, run.analysis.efficiencies[key])), help];
  const growth = ([key, name, help]) => [name, runs.map((run, number) => efficiency(run, about.comparison[key][number])), help];
  const first = runs[0].duration;
  const rows = [
    ["time", runs.map((run, number) => `${duration(run.duration)}${number ? change(run.duration, first) : ""}`), "From the first call to the last one; in brackets, compared with the first run."],
    ...SCALING.map(growth),
    ...EFFICIENCIES.map(part),
  ];
  const head = (text) => element("th", { scope: "col" }, text);
  const row = ([name, values, help]) => element("tr", {}, element("th", { scope: "row" }, name), values.map((value) => element("td", { class: "number" }, value)), element("td", { class: "help" }, help));
  const body = element("table", { class: "efficiencies" }, element("thead", {}, element("tr", {}, head(""), about.runs.map(head), head("what it is"))), element("tbody", {}, rows.map(row)));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "scaling" }, body);
}

/** A table of the places for one of the times; the last run is compared with the first one. */
function places(about, key) {
  const time = (row, number) => row.runs[number]?.[key] ?? 0;
  const difference = (row) => time(row, row.runs.length - 1) - time(row, 0);
  const columns = [
    { head: "call", value: (row) => place({ call: row.call }) },
    { head: "place", value: (row) => siteText(row.site) },
    ...about.runs.map((label, number) => ({ head: label, value: (row) => time(row, number), text: (row) => (row.runs[number] ? seconds(time(row, number)) : "not there") })),
    { head: `change from ${about.runs[0].split(":")[0]} to ${about.runs.at(-1).split(":")[0]}`, value: difference, text: (row) => `${difference(row) > 0 ? "+" : ""}${seconds(difference(row))}` },
  ];
  const rows = [...about.comparison.sites].sort((one, other) => Math.abs(difference(other)) - Math.abs(difference(one)));
  return table(columns, rows, { caption: `${TIMES[key]} by place and run` });
}

function differences(about) {
  const root = element("div", {}, places(about, "seconds"));
  const options = Object.entries(TIMES).map(([key, text]) => element("option", { value: key }, text));
  const choice = element("select", { "aria-label": "Which time is compared", onchange: (event) => root.replaceChildren(places(about, event.target.value)) }, options);
  const rest = about.comparison.left_out;
  return [choice, root, rest ? element("p", { class: "note" }, `${rest} more places differ less and are not in this page.`) : null];
}

/** All of them show the same time. */
class Timelines {
  constructor(about, runs, open) {
    this.element = element("div");
    this.all = runs.map((run, number) => {
      const root = element("div", { class: "compared" });
      const line = new Timeline(run, root, () => this.#follow(line), { isPlain: true, highest: MOST_HEIGHT });
      line.view.whole = Math.max(...runs.map((one) => one.duration), line.view.whole);
      this.element.append(element("h3", {}, element("button", { class: "link", onclick: () => open(number) }, about.runs[number])), root);
      return line;
    });
    for (const line of this.all) line.view.fit();
  }

  #follow(moved) {
    for (const line of this.all.filter((one) => one !== moved)) {
      [line.view.begin, line.view.end] = [moved.view.begin, moved.view.end];
      line.draw();
    }
  }

  resize() {
    for (const line of this.all) line.resize();
  }

  async load() {
    for (const line of this.all) await line.load();
  }
}

/** open(number): the timeline of a run. */
export function compare(about, runs, open) {
  const timelines = new Timelines(about, runs, open);
  const root = element(
    "div",
    {},
    figure("How the program scales", "Each column is a run, each row how well it uses its processes. Where a figure becomes smaller from one run to the next, that is what more processes, or the change that was made, cost.", scaling(about, runs)),
    figure("Where the runs differ", "Times are means of a process. Places are the same if call, function, file and line are the same; what differs most comes first.", ...differences(about)),
    figure("Timelines on the same scale", "All begin at the left when their first call begins, and have the same scale: moving or zooming one moves all. A heading opens the timeline of that run, with everything in it.", timelines.element),
  );
  return { element: root, timelines, show: () => timelines.resize(), load: () => timelines.load() };
}
