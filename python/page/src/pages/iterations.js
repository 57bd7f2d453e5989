// What the run repeats, and how long each time took.
import { count, duration, element, percent, place, seconds } from "../text.js";
import { figure } from "../figures/figure.js";
import { table } from "../table.js";

const WIDTH = 1000;
const HEIGHT = 220;
const MARGIN = 6;
const NEAR = 12; // pixels

/** Where a point of the phase is drawn. */
function scales(phase) {
  const most = Math.max(phase.longest, Number.MIN_VALUE);
  const last = Math.max(phase.iterations - 1, 1);
  return {
    x: (iteration) => MARGIN + ((iteration - 1) / last) * (WIDTH - 2 * MARGIN),
    y: (value) => HEIGHT - MARGIN - (value / most) * (HEIGHT - 2 * MARGIN),
  };
}

function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

function draw(canvas, phase) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const context = canvas.getContext("2d");
  const { x, y } = scales(phase);
  const outliers = new Set(phase.outliers.map((one) => one.iteration));
  [canvas.width, canvas.height] = [WIDTH, HEIGHT];
  context.strokeStyle = colour("line");
  line(context, 0, y(phase.typical), WIDTH, y(phase.typical));
  for (const [iteration, , value] of phase.points) {
    const isOutlier = outliers.has(iteration);
    context.fillStyle = isOutlier ? colour("error") : colour("link");
    context.beginPath();
    context.arc(x(iteration), y(value), isOutlier ? 4 : 2.5, 0, 2 * Math.PI);
    context.fill();
  }
  if (!phase.drift) return;
  context.strokeStyle = colour("ink");
  context.lineWidth = 1.5;
  line(context, x(1), y(phase.drift.first), x(phase.iterations), y(phase.drift.last));
}

function chart(phase, show) {
  const { x, y } = scales(phase);
  const canvas = element("canvas", { class: "chart", role: "img", "aria-label": `Time of each of ${phase.iterations} iterations` });
  const grouped = phase.points.length < phase.iterations ? ` Of each group of iterations the longest is drawn: ${count(phase.points.length)} of ${count(phase.iterations)}.` : "";
  const help = `From the first iteration to the last; the top is ${seconds(phase.longest)}, the line across is the typical time. Click a point to see it in the timeline.${grouped}`;
  const words = element("p", { class: "note", role: "status" }, help);
  const nearest = (event) => {
    const box = canvas.getBoundingClientRect();
    const [atX, atY] = [(event.offsetX / box.width) * WIDTH, (event.offsetY / box.height) * HEIGHT];
    const distance = ([iteration, , value]) => Math.hypot(x(iteration) - atX, y(value) - atY);
    const point = phase.points.reduce((best, one) => (distance(one) < distance(best) ? one : best));
    return distance(point) <= NEAR ? point : null;
  };
  canvas.addEventListener("pointermove", (event) => {
    const point = nearest(event);
    words.textContent = point ? `Iteration ${count(point[0])} begins at ${seconds(point[1])} and takes ${seconds(point[2])}.` : help;
  });
  canvas.addEventListener("click", (event) => {
    const point = nearest(event);
    if (point) show(point[1], point[1] + point[2]);
  });
  draw(canvas, phase);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(canvas, phase));
  return element("div", {}, canvas, words);
}

function outliers(phase, show) {
  const link = (row) => element("button", { class: "link", onclick: () => show(row.begin, row.begin + row.seconds) }, count(row.iteration));
  return table(
    [
      { head: "iteration", value: (row) => row.iteration, link },
      { head: "time", value: (row) => row.seconds, text: (row) => seconds(row.seconds) },
      { head: "longer than typical by", value: (row) => row.excess, text: (row) => seconds(row.excess) },
      { head: "because of rank", value: (row) => row.rank ?? "" },
      { head: "which computed longer by", value: (row) => row.computation_excess, text: (row) => (row.rank === null ? "" : seconds(row.computation_excess)) },
    ],
    [...phase.outliers].sort((one, other) => other.excess - one.excess),
    { caption: "iterations that took longer" },
  );
}

function drift({ first, last }) {
  const change = first > 0 ? ` (${last > first ? "+" : ""}${percent(last / first - 1)})` : "";
  return `They drift from ${seconds(Math.max(first, 0))} to ${seconds(Math.max(last, 0))}${change}.`;
}

function phaseSection(phase, show) {
  return figure(
    `${count(phase.iterations)} iterations, typically ${seconds(phase.typical)}`,
    "An iteration is a series of calls that all processes repeat. Each point is one: the higher, the longer it took. Points far above the line took longer than is typical, and the table tells because of whom. A sloping line means that iterations become slower or faster during the run.",
    element("p", {}, `From ${seconds(phase.begin)} to ${seconds(phase.end)} of the run; the shortest takes ${seconds(phase.shortest)}, the longest ${seconds(phase.longest)}. ${phase.drift ? drift(phase.drift) : ""}`),
    chart(phase, show),
    phase.outliers.length ? outliers(phase, show) : element("p", {}, "None took much longer than is typical."),
    element("p", { class: "help" }, "In each iteration:"),
    element("ol", {}, phase.calls.map((call) => element("li", {}, place(call)))),
  );
}

/** show(begin, end): in the timeline, in nanoseconds. */
export function iterations(run, show) {
  const { phases } = run.analysis;
  const inSeconds = (begin, end) => show(begin * 1e9, end * 1e9);
  if (!phases.length) return element("p", {}, `Nothing was found that all processes repeat during a tenth of these ${duration(run.duration)} or more.`);
  return element("div", {}, phases.map((phase) => phaseSection(phase, inSeconds)));
}
