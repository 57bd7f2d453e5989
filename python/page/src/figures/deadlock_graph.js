// A deadlock as a graph: processes, and for whom each of them waits.
import { drawn, element, printable, siteText } from "../text.js";
import { whatIsThis } from "./figure.js";
import { table } from "../table.js";

const MOST_TOLD = 8; // processes whose boxes have room for what they are in
const MOST_DRAWN = 40;
const ROOM = 8; // around the drawing
const LETTERS = 33; // in a line of a box

let drawings = 0; // of the page: their arrow heads have names

const shorten = (text) => (text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text);
const whereOf = (process) => (process.site ? siteText(process.site) : `${process.file.split("/").pop()}:${process.line}`);

/** The processes that can be drawn: those that wait, and those that ended and are awaited all the same. */
function nodesOf(waiting) {
  const known = new Set(waiting.map((one) => one.rank));
  const gone = [...new Set(waiting.flatMap((one) => one.awaits))].filter((rank) => !known.has(rank));
  return [...waiting, ...gone.map((rank) => ({ rank, awaits: [], hasEnded: true }))].slice(0, MOST_DRAWN);
}

/** Who waits for each other in the middle, the others around them; by rank. */
function place(nodes, size) {
  const isInside = nodes.some((one) => one.in_circle) ? (one) => one.in_circle : (one) => !one.hasEnded;
  const inside = nodes.filter(isInside);
  const outside = nodes.filter((one) => !isInside(one));
  const rings = [[inside, inside.length > 1 ? 1 : 0], [outside, inside.length > 1 ? 2 : 1]];
  let places;
  for (let radius = size.width * 0.85; !places || [...places.values()].some((one, i, all) => all.slice(0, i).some((other) => areClose(one, other, size))); radius *= 1.1)
    places = new Map(rings.flatMap(([ring, factor]) => onRing(ring, radius * factor, factor > 1 ? 0.5 : 0)));
  return places;
}

/** An ellipse, since boxes are wider than high. */
function onRing(ring, radius, turn) {
  return ring.map((one, i) => {
    const angle = Math.PI * ((2 * (i + turn)) / ring.length + (ring.length === 2 ? 1 : -0.5));
    return [one.rank, [Math.cos(angle) * radius, Math.sin(angle) * radius * 0.5]];
  });
}

/** Whether there is no room for an arrow between two boxes, also one that leads back to its own box. */
function areClose([x, y], [otherX, otherY], size) {
  return Math.abs(x - otherX) < size.width + ROOM * 3 && Math.abs(y - otherY) < size.height * 1.85;
}

/** Where a line from the middle of a box to another point leaves the box. */
function border([x, y], [toX, toY], size) {
  const [dx, dy] = [toX - x, toY - y];
  const part = Math.min(size.width / 2 / Math.abs(dx || 1e-9), size.height / 2 / Math.abs(dy || 1e-9));
  return [x + dx * part, y + dy * part];
}

function arrow(from, to, size, isForAny, head) {
  const kind = { class: isForAny ? "arrow any" : "arrow", "marker-end": `url(#${head})` };
  if (from === to) {
    const [x, y] = [from[0], from[1] - size.height / 2];
    return drawn("path", { ...kind, d: `M${x - 25} ${y} C${x - 60} ${y - 60} ${x + 60} ${y - 60} ${x + 25} ${y}` });
  }
  const bend = 0.14; // to both sides: who wait for each other have two arrows
  const middle = [(from[0] + to[0]) / 2 - (to[1] - from[1]) * bend, (from[1] + to[1]) / 2 + (to[0] - from[0]) * bend];
  const [x0, y0] = border(from, middle, size);
  const [x1, y1] = border(to, middle, size);
  return drawn("path", { ...kind, d: `M${x0} ${y0} Q${middle[0]} ${middle[1]} ${x1} ${y1}` });
}

function box(node, [x, y], size, isTold) {
  const lines = !isTold || node.hasEnded ? [] : [node.call, whereOf(node)];
  const name = `rank ${node.rank}${node.hasEnded ? " has ended" : ""}`;
  const line = (text, i) => drawn("text", { x, y: y + (i - lines.length / 2) * 17 + 5, class: i ? "quiet" : "name" }, printable(shorten(text)));
  return drawn(
    "g",
    { class: node.hasEnded ? "box gone" : node.in_circle ? "box circle" : "box" },
    drawn("title", {}, node.hasEnded ? name : `${name} waits in ${node.call} at ${whereOf(node)}`),
    drawn("rect", { x: x - size.width / 2, y: y - size.height / 2, width: size.width, height: size.height, rx: 8 }),
    [name, ...lines].map(line),
  );
}

function drawing(waiting) {
  const nodes = nodesOf(waiting);
  const id = `head-${++drawings}`;
  const isTold = nodes.length <= MOST_TOLD;
  const size = isTold ? { width: 250, height: 66 } : { width: 78, height: 30 };
  const places = place(nodes, size);
  const [xs, ys] = [0, 1].map((axis) => [...places.values()].map((one) => one[axis]));
  const [left, top] = [Math.min(...xs) - size.width / 2 - ROOM, Math.min(...ys) - size.height / 2 - ROOM - 45];
  const [width, height] = [Math.max(...xs) + size.width / 2 + ROOM - left, Math.max(...ys) + size.height / 2 + ROOM * 4 - top];
  const edges = nodes.flatMap((one) => one.awaits.filter((rank) => places.has(rank)).map((rank) => arrow(places.get(one.rank), places.get(rank), size, one.any, id)));
  const head = drawn("defs", {}, drawn("marker", { id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: "auto" }, drawn("path", { d: "M0 0 L10 5 L0 10 z" })));
  const label = `Graph of ${nodes.length} processes: each arrow leads from one that waits to whom it waits for. The table below tells the same.`;
  return drawn("svg", { class: "graph", role: "img", "aria-label": label, width, height, viewBox: `${left} ${top} ${width} ${height}` }, head, edges, nodes.map((one) => box(one, places.get(one.rank), size, isTold)));
}

/** waiting: the processes of a deadlock, as hdtrace check tells them. */
export function deadlockGraph(waiting) {
  const rows = table(
    [
      { head: "rank", value: (row) => row.rank },
      { head: "waits in", value: (row) => row.call },
      { head: "where", value: whereOf },
      { head: "for", value: (row) => `${row.any && row.awaits.length > 1 ? "any of " : ""}rank ${row.awaits.join(", ")}${row.awaits_count > row.awaits.length ? ` and ${row.awaits_count - row.awaits.length} more` : ""}` },
      { head: "line of the trace", value: (row) => `${row.file.split("/").pop()}:${row.line}` },
    ],
    waiting,
    { caption: "processes that can never go on" },
  );
  const isAll = nodesOf(waiting).length < MOST_DRAWN;
  return element(
    "div",
    {},
    whatIsThis("Each arrow leads from a process that waits to the one that it waits for; dashed arrows: any of them would do. Processes with a thick border wait for each other; none of them can ever go on. A box tells the call and where it is in the program."),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "graph of the deadlock" }, drawing(waiting)),
    isAll ? null : element("p", { class: "note" }, `The graph has ${MOST_DRAWN} of them, the table all ${waiting.length}.`),
    rows,
  );
}
