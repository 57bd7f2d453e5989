// What is known about a call, a wait state, a selected time.
import { bytes, count, counted, duration, element, percent } from "../text.js";

function rows(pairs) {
  return element("dl", {}, pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

export function describeCall(run, { lane, content, position }) {
  const phrase = run.phrases[content.phrase[position]];
  const [begin, end] = [content.begin[position], content.end[position]];
  const site = run.siteOf(content, position);
  const isCall = !["other", "event"].includes(run.classes[phrase.callClass]);
  const pairs = [
    ["of", `rank ${lane.name} on ${lane.host}`],
    ["begins", `${(begin / 1e9).toFixed(9)} s`],
    ["lasts", duration(end - begin)],
  ];
  if (site) pairs.push(["at", site.text]);
  for (const [name, value, meaning] of run.attributesOf(lane, content, position)) pairs.push([name, meaning ? `${meaning} (${value})` : value]);
  if (phrase.leftOut) pairs.push(["and", `${phrase.leftOut} parts more`]);
  for (const wait of lane.waits)
    if (wait.begin >= begin && wait.end <= end && content.depth[position] === 0)
      pairs.push(["waits", `${duration(wait.end - wait.begin)}: ${run.wait_kinds[wait.kind]}${wait.cause >= 0 ? `, for rank ${run.lanes[wait.cause].name}` : ""}`]);
  return element("div", { class: "call" }, element("strong", {}, isCall ? `MPI_${phrase.name}` : phrase.name), ` ${run.classes[phrase.callClass]}`, rows(pairs));
}

export function describeMark(run, mark) {
  const what = ["region", "mark", "counter"][mark.kind];
  const value = mark.kind === 2 ? [["value", String(mark.value)]] : mark.kind === 0 ? [["lasts", duration(mark.end - mark.begin)]] : [];
  return element("div", { class: "call" }, element("strong", {}, run.names[mark.name]), ` ${what}`, rows([["at", `${(mark.begin / 1e9).toFixed(9)} s`], ...value]));
}

/** Sums over all lanes of which single calls are known. */
export function describeSelection(run, [begin, end]) {
  const known = run.lanes.filter((lane) => lane.blocks).length;
  const title = element("strong", {}, `${duration(end - begin)} selected, from ${(begin / 1e9).toFixed(6)} s on`);
  return element("div", { class: "selected" }, title, known ? sumsOf(run, begin, end, known) : element("p", {}, whyNoCalls(run)));
}

const whyNoCalls = (run) => (run.lanes.some((lane) => lane.isDetailed) ? "Single calls are not loaded yet: zoom in, then select again." : "Single calls are not in this page (--limit).");

function sumsOf(run, begin, end, known) {
  const sums = new Map();
  let waiting = 0;
  for (const lane of run.lanes) {
    lane.forEachIn(begin, end, (content, i) => {
      if (content.depth[i] > 0) return;
      const name = run.phrases[content.phrase[i]].name;
      const sum = sums.get(name) ?? { calls: 0, time: 0 };
      sum.calls++;
      sum.time += Math.min(end, content.end[i]) - Math.max(begin, content.begin[i]);
      sums.set(name, sum);
    });
    for (const wait of lane.waits) waiting += Math.max(0, Math.min(end, wait.end) - Math.max(begin, wait.begin));
  }
  const whole = (end - begin) * known;
  const share = (time) => (whole ? percent(time / whole) : ""); // of no time there is none
  const messages = run.lanes.flatMap((lane) => lane.received.filter((one) => one.end >= begin && one.begin <= end));
  const total = [...sums.values()].reduce((sum, one) => sum + one.time, 0);
  const line = (name, one) => element("tr", {}, element("td", {}, name), element("td", { class: "number" }, count(one.calls)), element("td", { class: "number" }, duration(one.time)), element("td", { class: "number" }, share(one.time)));
  const sorted = [...sums].sort((one, other) => other[1].time - one[1].time).slice(0, 12);
  const shares = whole ? `Of ${counted(known, "thread")} ${share(total)} in MPI, ${share(waiting)} waiting; ` : "";
  const sentence = `${shares}${counted(messages.length, "message")} with ${bytes(messages.reduce((sum, one) => sum + one.size, 0))}.`;
  const heads = ["call", "calls", "time", "share"].map((head) => element("th", {}, head));
  return [element("p", {}, sentence), element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, sorted.map(([name, one]) => line(name, one))))];
}
