// What a run was, and what costs it most.
import { activityText, count, counted, duration, element, percent, place, seconds } from "../text.js";
import { figure } from "../figures/figure.js";
import { countOf, unknownIn } from "./checks.js";
import { colourOf, WAITING } from "../timeline/colours.js";

/** Their names in the analysis, for people, and what they mean. */
export const EFFICIENCIES = [
  ["parallel", "parallel efficiency", "The part of all processes' time that is computation: load balance times input and output times communication."],
  ["load_balance", "load balance", "How equally computation is spread: its mean over its maximum."],
  ["io", "input and output", "What calls on files leave of the process that works longest: that computes and accesses files."],
  ["communication", "communication", "What communication leaves of the process that works longest: serialisation times transfer."],
  ["serialisation", "serialisation", "What waiting for each other leaves, even in an ideal network."],
  ["transfer", "transfer", "What moving the data leaves."],
];

const ADVICE = {
  computation: "Give this rank less to compute there, or overlap: start communication before it and complete it behind.",
  call: "Look at why this rank spends longer in the call than others: more data, more calls, or a slower file or host.",
};

function bar(value, title) {
  const fill = element("span", { class: value > 0.8 ? "good" : value > 0.6 ? "fair" : "poor" });
  fill.style.width = `${Math.max(0, Math.min(1, value)) * 100}%`;
  return element("span", { class: "bar", role: "img", "aria-label": `${title}: ${percent(value)}` }, fill);
}

/** A part of the time of a run, if that takes any. */
export const efficiency = (run, value) => (run.analysis.efficiencies.seconds > 0 ? percent(value) : "unknown");

function efficiencies(run) {
  const values = run.analysis.efficiencies;
  const rows = EFFICIENCIES.map(([key, name, help]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, values.seconds > 0 ? bar(values[key], name) : null), element("td", { class: "number" }, efficiency(run, values[key])), element("td", { class: "help" }, help)),
  );
  return element("table", { class: "efficiencies" }, element("tbody", {}, rows));
}

function whereTimeWent(run) {
  const { whole } = run;
  const strip = element("div", { class: "strip", role: "img", "aria-label": "Where the time went" });
  const list = element("ul", { class: "keys" });
  const { activities } = run.analysis;
  const key = (name, colour, value) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = colour;
    list.append(element("li", {}, swatch, `${name} `, element("b", {}, percent(value / whole)), ` ${seconds(value)}`));
  };
  for (const row of activities.filter(({ activity }) => activity !== "waiting").sort((one, other) => other.seconds - one.seconds)) {
    if (!(row.seconds > 0)) continue;
    const colour = row.activity === "computation" ? "var(--computation)" : colourOf(row.activity);
    key(row.activity, colour, row.seconds);
    const part = element("span", { title: `${row.activity} ${percent(row.seconds / whole)}` });
    part.style.width = `${(100 * row.seconds) / whole}%`;
    part.style.background = colour;
    strip.append(part);
  }
  for (const row of activities) if (row.activity === "waiting" && row.seconds > 0) key("waiting, in these calls", WAITING, row.seconds);
  return [strip, list, element("p", { class: "help" }, "The time of all processes together. Waiting is the part of the calls in which they could not go on.")];
}

function costliest(run, open) {
  const causes = run.analysis.causes.slice(0, 5).map((row) =>
    element(
      "li",
      {},
      element("b", {}, seconds(row.seconds)),
      ` lost by ${count(row.waiting_ranks)} waiting ${row.waiting_ranks === 1 ? "process" : "processes"}, because of rank ${row.rank}: `,
      activityText(row),
      element("p", { class: "help" }, ADVICE[row.activity]),
      element("button", { class: "link", onclick: () => open(row) }, "Show in the timeline"),
    ),
  );
  return causes.length ? element("ol", { class: "findings" }, causes) : element("p", {}, "No process was seen to wait for another one.");
}

function fileUse(run) {
  const found = run.analysis.io.findings;
  return found.length ? element("p", {}, `Files may be used better in ${counted(found.length, "way")}: `, element("a", { href: "#files" }, "see Files"), ".") : null;
}

function findings(run) {
  const errors = countOf(run.findings.filter((finding) => finding.severity === "error"));
  const warnings = countOf(run.findings) - errors;
  if (!run.findings.length) return element("p", {}, "hdtrace check found nothing wrong.");
  return element("p", {}, `hdtrace check found ${counted(errors, "error")} and ${counted(warnings, "warning")}: `, element("a", { href: "#checks" }, "see Checks"), ".");
}

function card(name, value) {
  return element("div", { class: "card" }, element("span", {}, name), element("b", {}, value));
}

export function summary(run, open) {
  const { analysis } = run;
  const waits = [...analysis.wait_states].slice(0, 3);
  return element(
    "div",
    {},
    element("div", { class: "cards" }, card("time", duration(run.duration)), card("processes", count(run.processes)), card("hosts", count(run.hosts.length)), card("calls of MPI", count(run.call_count)), card("parallel efficiency", efficiency(run, analysis.efficiencies.parallel))),
    ...run.oversubscription.map((text) => element("p", { class: "caution" }, text)),
    figure("Where the time went", "All time of all processes: what they compute, and what they spend in calls of MPI of each class. A good program computes most of the time.", ...whereTimeWent(run)),
    element("section", {}, element("h2", {}, "What costs most"), costliest(run, open), fileUse(run), findings(run), unknownIn(run)),
    figure("Efficiencies", "Parts of the time that are well spent, from 0 to 100 %. The lowest one tells where to look first. They are those of the POP project; docs/analyze.md tells how each is computed.", efficiencies(run)),
    waits.length
      ? element("section", {}, element("h2", {}, "The longest waiting"), element("ul", {}, waits.map((row) => element("li", {}, element("b", {}, seconds(row.seconds)), ` ${row.kind} of rank ${row.rank} in ${place(row)}`, row.cause ? `, until rank ${row.cause.rank} came to ${place(row.cause)}` : ""))))
      : null,
    element("section", {}, element("h2", {}, "The run"), element("dl", { class: "run" }, run.about.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]))),
    run.notes.length ? element("section", { class: "notes" }, element("h2", {}, "What this page does not show"), element("ul", {}, run.notes.map((note) => element("li", {}, note)))) : null,
  );
}
