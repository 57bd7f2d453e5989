// A flame graph: what a program was in, from the whole run at the top to calls and computation at the bottom.
import { element, percent, seconds, siteText, textNodes } from "../text.js";
import { colourOf, inkOn } from "../timeline/colours.js";

const LEAST = 0.001; // of the width: what is narrower is not drawn
const ROW = 22; // pixels

function child(node, name, more = {}) {
  const key = `${more.kind ?? ""} ${name}`;
  if (!node.children.has(key)) node.children.set(key, { name, time: 0, waiting: 0, children: new Map(), parent: node, ...more });
  return node.children.get(key);
}

/** A function is one, whichever of its lines calls. */
const functionOf = (frame) => siteText(frame.function ? { ...frame, line: null } : frame);
const mostIn = (classes) => Object.entries(classes).reduce((most, one) => (one[1] > most[1] ? one : most), ["other", 0])[0];

function add(node, time, waiting = 0) {
  for (let one = node; one; one = one.parent) {
    one.time += time;
    one.waiting += waiting;
  }
}

/** Of regions inside each other, from the outermost on: a slash that belongs to a name has a backslash before it. */
const namesIn = (path) => (path.match(/(?:\\.|[^/])+/gsu) ?? []).map((name) => name.replace(/\\(.)/gsu, "$1"));

/** rows: times by region, call and site, as the analysis has them. */
export function treeOf(rows) {
  const root = { name: "the run", time: 0, waiting: 0, children: new Map(), parent: null };
  for (const row of rows) {
    let node = root;
    for (const region of namesIn(row.region ?? "")) node = child(node, region, { kind: "region" });
    for (const frame of [...(row.site?.frames ?? [])].reverse()) node = child(node, functionOf(frame), { kind: "function" });
    const line = row.site?.line ? `, line ${row.site.line}` : "";
    if (row.mpi > 0) add(child(node, `MPI_${row.call}${line}`, { kind: "call", callClass: mostIn(row.classes) }), row.mpi, row.waiting);
    if (row.computation > 0) add(child(node, row.call ? `computation after MPI_${row.call}${line}` : "computation", { kind: "computation" }), row.computation);
  }
  return root;
}

/** Where each node is: [node, depth, left, width] in parts of the width. */
function layout(focus) {
  const placed = [];
  const path = [];
  for (let one = focus; one; one = one.parent) path.unshift(one);
  path.forEach((one, depth) => placed.push([one, depth, 0, 1]));
  const below = (node, depth, left, width) => {
    let x = left;
    for (const one of [...node.children.values()].sort((a, b) => b.time - a.time)) {
      const share = (one.time / node.time) * width;
      if (share < LEAST) break;
      placed.push([one, depth, x, share]);
      below(one, depth + 1, x, share);
      x += share;
    }
  };
  if (focus.time > 0) below(focus, path.length, 0, 1);
  return placed;
}

export class Flame {
  /** The rows may lack some of the whole time. */
  constructor(rows, whole) {
    this.root = treeOf(rows);
    this.whole = whole;
    this.focus = this.root;
    this.words = element("p", { class: "note", role: "status" });
    this.picture = element("div", { class: "flame", role: "tree", "aria-label": "Flame graph" });
    this.input = element("input", { type: "search", placeholder: "Find a function, a call, a region", "aria-label": "Find in the flame graph", oninput: () => this.draw() });
    this.element = element("div", {}, element("div", { class: "controls" }, this.input, element("button", { onclick: () => this.show(this.root) }, "Whole run")), element("div", { class: "scroll flames" }, this.picture), this.words);
    this.draw();
  }

  show(node) {
    this.focus = node;
    this.draw();
    this.picture.querySelector("[aria-selected=true]")?.focus();
  }

  #say(node) {
    const waiting = node.waiting > 0 ? `, of which ${seconds(node.waiting)} waiting` : "";
    return `${node.name}: ${seconds(node.time)} of all processes together, ${percent(this.whole ? node.time / this.whole : 0)} of the run${waiting}.`;
  }

  #tell(text) {
    this.words.replaceChildren(...textNodes(text));
  }

  draw() {
    const wanted = this.input.value.trim().toLowerCase();
    const placed = layout(this.focus);
    let found = 0;
    const boxes = placed.map(([node, depth, left, width]) => {
      const fits = wanted && node.name.toLowerCase().includes(wanted);
      if (fits && !node.children.size) found += node.time;
      const box = element(
        "button",
        { role: "treeitem", "aria-level": depth + 1, "aria-selected": node === this.focus ? "true" : "false", class: `box ${node.kind ?? ""}${wanted && !fits ? " faint" : ""}`, title: this.#say(node), onclick: () => this.show(node), onfocus: () => this.#tell(this.#say(node)), onpointerenter: () => this.#tell(this.#say(node)) },
        node.name,
      );
      Object.assign(box.style, { left: `${left * 100}%`, width: `${width * 100}%`, top: `${depth * ROW}px` });
      if (node.kind === "call") Object.assign(box.style, { background: colourOf(node.callClass), color: inkOn(colourOf(node.callClass)) });
      return box;
    });
    this.picture.style.height = `${(Math.max(...placed.map(([, depth]) => depth)) + 1) * ROW}px`;
    this.picture.replaceChildren(...boxes);
    this.#tell(wanted ? `${seconds(found)} in what is found and drawn.` : this.#say(this.focus));
  }
}
