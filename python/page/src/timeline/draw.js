// Draws lanes: the calls themselves, or shares of time where there are too many of them.
import { timeText } from "../text.js";
import { colourOf, inkOn, pixelOf, WAITING } from "./colours.js";
import { mixed, Pixels } from "./pixels.js";

const MOST_CALLS = 30_000; // that are drawn one by one
const MOST_ARROWS = 4_000;
const MOST_BANDS = 400;
const NOT_FOUND = 0.18; // of its colour has a call that is not searched for
const BAND = 0.16; // as much of the colour of collective operations has a band of them
const DASHES = [[], [5, 3], [2, 2], [8, 3, 2, 3]]; // of counters of a lane

/** Where in a list the first one is that ends at a time or later; they are sorted by their ends. */
function firstEnding(list, time) {
  let [first, last] = [0, list.length];
  while (first < last) {
    const middle = (first + last) >> 1;
    if (list[middle].end < time) first = middle + 1;
    else last = middle;
  }
  return first;
}

/** What was drawn, for the line below the picture and for tests. */
export class Drawing {
  constructor(canvas, run, view, options) {
    Object.assign(this, { canvas, run, view, options });
    this.context = canvas.getContext("2d");
    this.waiting = pixelOf(WAITING);
    this.classPixels = run.classes.map((name) => pixelOf(colourOf(name)));
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = this.canvas.getBoundingClientRect();
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.ratio = ratio;
    this.view.width = Math.max(1, width);
    this.view.height = Math.max(1, height);
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(["ink", "lane", "line", "paper", "path"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    [this.paper, this.ground] = [pixelOf(this.colours.paper), pixelOf(this.colours.lane)];
    this.pale = this.classPixels.map((pixel) => mixed(pixel, this.ground, NOT_FOUND));
    this.edges = this.classPixels.map((pixel) => mixed(pixel, this.ground, 0.5));
    [this.bandOnPaper, this.bandOnGround] = [this.paper, this.ground].map((below) => mixed(pixelOf(colourOf("collective")), below, BAND));
    this.pixels = new Pixels(this.canvas, ratio);
  }

  draw() {
    const { context, view } = this;
    const lanes = view.visible;
    this.drawn = { lanes: lanes.length, calls: 0, arrows: 0, bands: 0, waits: 0, counters: 0, hidden: [] };
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.pixels.clear(this.paper);
    const calls = lanes.reduce((sum, lane) => sum + this.run.countIn(lane, view.begin, view.end), 0);
    this.isDetailed = calls <= MOST_CALLS;
    const detailed = this.isDetailed ? lanes.filter((lane) => lane.blocks) : [];
    for (const lane of lanes) this.#drawGround(lane);
    if (this.options.collectives) this.#drawBands(lanes);
    this.labels = [];
    const parts = detailed.length < lanes.length ? this.#partsOfColumns() : null;
    for (const lane of lanes) {
      if (!detailed.includes(lane)) this.#drawShares(lane, parts);
      else this.#drawCalls(lane);
    }
    if (this.options.waits) for (const lane of detailed) this.#drawWaits(lane);
    this.pixels.show();
    this.#writeLabels();
    for (const lane of lanes) this.#drawMarks(lane);
    if (this.options.counters) for (const lane of lanes) this.#drawCounters(lane);
    if (this.options.path) this.#drawPath();
    if (this.options.messages) this.#drawMessages(lanes);
    this.#drawSelection();
    return this.drawn;
  }

  #drawGround(lane) {
    const [top, bottom] = this.#rows(lane);
    this.pixels.fill(this.#column(0), top, this.#column(this.run.duration), bottom, this.ground);
  }

  /** The column of pixels of a time. */
  #column(time) {
    return Math.round(this.view.x(time) * this.ratio);
  }

  /** The first row of pixels of a lane's content, and the one behind the last. */
  #rows(lane) {
    const top = Math.round((this.view.y(lane) + 1) * this.ratio);
    return [top, top + Math.max(1, Math.round((this.view.laneHeight - 2) * this.ratio))];
  }

  /** Of each column of pixels the first and the last of the parts of the run that it shows; the last is before the first where it shows none. */
  #partsOfColumns() {
    const { view, ratio, run, pixels } = this;
    const perNanosecond = run.parts / Math.max(1, run.duration);
    return Array.from({ length: pixels.width }, (_, x) => {
      const from = view.timeAt(x / ratio) * perNanosecond;
      const to = view.timeAt((x + 1) / ratio) * perNanosecond;
      const first = Math.max(0, Math.floor(from));
      return to < 0 || from >= run.parts ? [0, -1] : [first, Math.min(run.parts - 1, Math.max(first, Math.ceil(to) - 1))];
    });
  }

  // Classes stand above each other in each pixel of a lane, each as high as its share.
  #drawShares(lane, parts) {
    const { pixels } = this;
    const shown = [...lane.shares].filter(([kind]) => kind !== this.run.waiting && !this.options.isHidden(kind));
    const [top, bottom] = this.#rows(lane);
    for (let x = 0; x < pixels.width; x++) {
      const [first, last] = parts[x];
      let row = bottom;
      for (const [kind, shares] of shown) {
        let sum = 0;
        for (let part = first; part <= last; part++) sum += shares[part];
        if (!sum) continue;
        const rows = Math.max(1, Math.round((sum / (255 * (last - first + 1))) * (bottom - top)));
        const next = Math.max(top, row - rows);
        pixels.fill(x, next, x + 1, row, this.classPixels[kind]);
        row = next;
      }
    }
  }

  // Of calls inside one pixel the last one is seen.
  #drawCalls(lane) {
    const { view, run, options, ratio, pixels } = this;
    const [top, bottom] = this.#rows(lane);
    const step = Math.min(5 * ratio, (bottom - top) / 4);
    const [begin, scale] = [view.begin, view.scale * ratio];
    const isHidden = run.classes.map((_, kind) => options.isHidden(kind));
    lane.forEachIn(view.begin, view.end, (content, i) => {
      const { name, callClass } = run.phrases[content.phrase[i]];
      if (isHidden[callClass]) return;
      this.drawn.calls++;
      const from = Math.max(0, Math.round((content.begin[i] - begin) * scale));
      const to = Math.max(from + 1, Math.min(pixels.width, Math.round((content.end[i] - begin) * scale)));
      const first = top + Math.round(Math.min(content.depth[i], 3) * step);
      const colours = !options.found || options.found(content, i) ? this.classPixels : this.pale;
      pixels.fill(from, first, to, bottom, colours[callClass]);
      if (to - from > 3 * ratio && colours === this.classPixels) pixels.fill(to - 1, first, to, bottom, this.edges[callClass]); // neighbours of a class can be told apart
      const room = (to - from) / ratio;
      if (room > 46 && bottom - first >= 10 * ratio) this.labels.push([name, from / ratio + 4, (first + bottom) / 2 / ratio, room - 8, colourOf(run.classes[callClass])]);
    });
  }

  // Names of calls, above the hatching of waiting.
  #writeLabels() {
    const { context } = this;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const [text, x, y, room, colour] of this.labels) {
      const { width } = context.measureText(text);
      if (width > room) continue;
      context.fillStyle = colour;
      context.fillRect(x - 2, y - 7, width + 4, 14);
      context.fillStyle = inkOn(colour);
      context.fillText(text, x, y);
    }
  }

  #drawWaits(lane) {
    const { view } = this;
    const [top, bottom] = this.#rows(lane);
    let right = 0;
    for (let i = firstEnding(lane.waits, view.begin); i < lane.waits.length && lane.waits[i].begin <= view.end; i++) {
      const wait = lane.waits[i];
      const from = Math.max(right, this.#column(wait.begin));
      const to = this.#column(wait.end);
      this.drawn.waits++;
      if (to <= from) continue;
      this.pixels.hatch(from, top, to, bottom, this.waiting);
      right = to;
    }
  }

  #drawMarks(lane) {
    const { context, view } = this;
    const y = view.y(lane);
    context.fillStyle = this.colours.ink;
    for (const mark of lane.marks) {
      if (mark.end < view.begin || mark.begin > view.end) continue;
      const x = view.x(mark.begin);
      if (mark.kind === 0) context.fillRect(Math.max(0, x), y + Math.min(mark.depth, 3) * 2, Math.min(view.width, view.x(mark.end)) - Math.max(0, x), 1.5);
      else if (mark.kind === 1) context.fillRect(x, y + 1, 1.5, view.laneHeight - 2);
    }
  }

  // Each from its smallest value at the bottom of the lane to its largest one at the top; a value holds until the next one.
  #drawCounters(lane) {
    const { context, view } = this;
    const [bottom, height] = [view.y(lane) + view.laneHeight - 3, view.laneHeight - 6];
    context.lineWidth = 1.2;
    lane.counters.forEach(({ values, least, most }, number) => {
      const y = (value) => bottom - height * (most > least ? (value - least) / (most - least) : 0.5);
      context.strokeStyle = this.colours.ink;
      context.setLineDash(DASHES[number % DASHES.length]);
      context.beginPath();
      const first = Math.max(0, firstEnding(values, view.begin) - 1);
      let last = -Infinity;
      for (let i = first; i < values.length; i++) {
        const x = view.x(values[i].begin);
        if (i > first) context.lineTo(x, y(values[i - 1].value));
        if (x - last > 0.5) context.lineTo(x, y(values[i].value));
        last = x;
        if (x > view.width) break;
      }
      if (last <= view.width && values.length) context.lineTo(Math.min(view.width, view.x(this.run.duration)), y(values.at(-1).value));
      context.stroke();
      this.drawn.counters++;
    });
    context.setLineDash([]);
  }

  #drawBands(lanes) {
    const { view, run } = this;
    const inTime = run.gatherings.filter((one) => one.communicator >= 0 && one.end >= view.begin && one.begin <= view.end && view.x(one.end) - view.x(one.begin) > 1);
    if (inTime.length > MOST_BANDS) return void this.drawn.hidden.push(`${inTime.length} bands of collective operations`);
    const columns = new Map(); // of pixels that have a band, for each list of members
    for (const one of inTime) {
      const members = run.communicators[one.communicator]?.ranks ?? null;
      if (!columns.has(members)) columns.set(members, new Uint8Array(this.pixels.width));
      columns.get(members).fill(1, Math.max(0, this.#column(one.begin)), Math.max(this.#column(one.begin) + 1, this.#column(one.end)));
      this.drawn.bands++;
    }
    for (const [members, isBand] of columns) for (const lane of lanes) if (!members || members.includes(lane.rank)) this.#drawBandsOf(lane, isBand);
  }

  #drawBandsOf(lane, isBand) {
    const [top, bottom] = this.#rows(lane);
    const [above, below] = [Math.round(this.view.y(lane) * this.ratio), Math.round((this.view.y(lane) + this.view.laneHeight) * this.ratio)];
    for (let end = 0, begin; (begin = isBand.indexOf(1, end)) >= 0; ) {
      end = isBand.indexOf(0, begin);
      if (end < 0) end = isBand.length;
      this.pixels.fill(begin, above, end, below, this.bandOnPaper);
      this.pixels.fill(begin, top, end, bottom, this.bandOnGround);
    }
  }

  // Thick where it is in a thread, thin where it changes to another one.
  #drawPath() {
    const { context, view } = this;
    const seen = this.run.path.filter((part) => part.end >= view.begin && part.begin <= view.end);
    const changes = new Path2D();
    const stays = new Path2D();
    let lastY = null;
    let lastX = -10;
    for (const part of seen) {
      const y = view.y(part.lane) + view.laneHeight - 2;
      const [from, to] = [view.x(part.begin), view.x(part.end)];
      if (lastY !== null && lastY !== y && from - lastX > 1.5) {
        changes.moveTo(from, lastY);
        changes.lineTo(from, y);
        lastX = from;
      }
      if (to - from > 0.3) {
        stays.moveTo(Math.max(-5, from), y);
        stays.lineTo(Math.min(view.width + 5, to), y);
      }
      lastY = y;
    }
    context.strokeStyle = this.colours.path;
    context.lineWidth = 0.75;
    context.stroke(changes);
    context.lineWidth = 2.5;
    context.stroke(stays);
  }

  #drawMessages(lanes) {
    const { context, view, run } = this;
    const seen = [];
    for (const lane of run.order)
      for (let i = firstEnding(lane.received, view.begin); i < lane.received.length; i++) {
        const message = lane.received[i];
        if (message.end - lane.longestMessage > view.end) break;
        if (message.begin > view.end) continue;
        const isSeen = lanes.includes(lane) || lanes.includes(run.lanes[message.from]);
        if (isSeen && seen.push([lane, message]) > MOST_ARROWS) return void this.drawn.hidden.push("arrows of messages");
      }
    context.strokeStyle = context.fillStyle = this.colours.ink;
    context.lineWidth = seen.length > 500 ? 0.5 : 1;
    context.beginPath();
    for (const [lane, message] of seen) {
      const from = [view.x(message.begin), view.y(run.lanes[message.from]) + view.laneHeight / 2];
      const to = [view.x(message.end), view.y(lane) + view.laneHeight / 2];
      context.moveTo(...from);
      context.lineTo(...to);
      if (seen.length < 1000) this.#drawHead(from, to);
    }
    context.stroke();
    this.drawn.arrows = seen.length;
  }

  #drawHead([x0, y0], [x, y]) {
    const { context } = this;
    const angle = Math.atan2(y - y0, x - x0);
    for (const turn of [-0.45, 0.45]) {
      context.moveTo(x, y);
      context.lineTo(x - 6 * Math.cos(angle + turn), y - 6 * Math.sin(angle + turn));
    }
  }

  #drawSelection() {
    const { context, view, options } = this;
    if (options.selection) {
      const [from, to] = options.selection.map((time) => view.x(time));
      context.fillStyle = this.colours.ink;
      context.globalAlpha = 0.14;
      context.fillRect(from, 0, to - from, view.height);
      context.globalAlpha = 1;
      context.fillRect(from, 0, 1, view.height);
      context.fillRect(to, 0, 1, view.height);
    }
    if (options.chosen) {
      const { lane, content, position } = options.chosen;
      const from = view.x(content.begin[position]);
      context.strokeStyle = this.colours.ink;
      context.lineWidth = 2;
      context.strokeRect(from - 1, view.y(lane), Math.max(3, view.x(content.end[position]) - from + 2), view.laneHeight);
    }
  }
}

/** The scale above the lanes. */
export function drawRuler(canvas, view, ratio, colours) {
  const context = canvas.getContext("2d");
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(22 * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colours.ink;
  context.font = "11px system-ui, sans-serif";
  const wanted = (view.end - view.begin) / Math.max(2, view.width / 110);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= wanted);
  for (let time = Math.ceil(view.begin / step) * step; time <= view.end; time += step) {
    context.fillRect(view.x(time), 15, 1, 7);
    const text = timeText(time, step);
    context.fillText(text, Math.min(view.x(time) + 3, view.width - context.measureText(text).width), 11);
  }
}
