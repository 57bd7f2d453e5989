// Draws lanes: the calls themselves, or shares of time where there are too many of them.
import { timeText } from "../text.js";
import { colourOf, inkOn, pixelOf, WAITING } from "./colours.js";

const MOST_CALLS = 30_000; // that are drawn one by one
const MOST_ARROWS = 4_000;
const MOST_BANDS = 400;
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
    this.pixels = run.classes.map((name) => pixelOf(colourOf(name)));
    this.pixels[run.waiting] = pixelOf(WAITING);
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
    this.ground = pixelOf(this.colours.lane);
    this.hatch = this.#makeHatch();
  }

  #makeHatch() {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const context = tile.getContext("2d");
    context.strokeStyle = WAITING;
    context.lineWidth = 1.6;
    context.beginPath();
    for (const shift of [-6, 0, 6]) {
      context.moveTo(shift, 6);
      context.lineTo(shift + 6, 0);
    }
    context.stroke();
    return this.context.createPattern(tile, "repeat");
  }

  draw() {
    const { context, view } = this;
    const lanes = view.visible;
    this.drawn = { lanes: lanes.length, calls: 0, arrows: 0, bands: 0, waits: 0, counters: 0, hidden: [] };
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = this.colours.paper;
    context.fillRect(0, 0, view.width, view.height);
    const calls = lanes.reduce((sum, lane) => sum + this.run.countIn(lane, view.begin, view.end), 0);
    this.isDetailed = calls <= MOST_CALLS;
    const detailed = this.isDetailed ? lanes.filter((lane) => lane.blocks) : [];
    for (const lane of lanes) this.#drawGround(lane);
    if (this.options.collectives) this.#drawBands(lanes);
    this.#drawShares(lanes.filter((lane) => !detailed.includes(lane)));
    this.labels = [];
    for (const lane of detailed) this.#drawCalls(lane);
    if (this.options.waits) for (const lane of detailed) this.#drawWaits(lane);
    this.#writeLabels();
    for (const lane of lanes) this.#drawMarks(lane);
    if (this.options.counters) for (const lane of lanes) this.#drawCounters(lane);
    if (this.options.path) this.#drawPath();
    if (this.options.messages) this.#drawMessages(lanes);
    this.#drawSelection();
    return this.drawn;
  }

  #drawGround(lane) {
    const { context, view } = this;
    context.fillStyle = this.colours.lane;
    const from = Math.max(0, view.x(0));
    context.fillRect(from, view.y(lane) + 1, Math.min(view.width, view.x(this.run.duration)) - from, view.laneHeight - 2);
  }

  // Classes stand above each other in each pixel of a lane, each as high as its share.
  #drawShares(lanes) {
    const { context, view, ratio } = this;
    const height = Math.max(1, Math.round((view.laneHeight - 2) * ratio));
    const width = this.canvas.width;
    const perNanosecond = this.run.parts / Math.max(1, this.run.duration);
    for (const lane of lanes) {
      const shown = [...lane.shares].filter(([kind]) => kind !== this.run.waiting && !this.options.isHidden(kind));
      if (!shown.length) continue;
      const colours = shown.map(([kind]) => this.pixels[kind]);
      const parts = shown.map(([, shares]) => shares);
      const y = Math.round((view.y(lane) + 1) * ratio);
      const image = context.createImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer).fill(this.ground);
      for (let x = 0; x < width; x++) {
        const from = view.timeAt(x / ratio) * perNanosecond;
        const to = view.timeAt((x + 1) / ratio) * perNanosecond;
        if (to < 0 || from >= this.run.parts) continue;
        const first = Math.max(0, Math.floor(from));
        const last = Math.min(this.run.parts - 1, Math.max(first, Math.ceil(to) - 1));
        let row = height;
        for (let k = 0; k < parts.length; k++) {
          const shares = parts[k];
          let sum = 0;
          for (let part = first; part <= last; part++) sum += shares[part];
          let rows = Math.round((sum / (255 * (last - first + 1))) * height);
          if (!rows && sum) rows = 1;
          for (; rows > 0 && row > 0; rows--) pixels[--row * width + x] = colours[k];
        }
      }
      context.putImageData(image, 0, y);
    }
  }

  // Of calls inside one pixel the last one is seen.
  #drawCalls(lane) {
    const { context, view, run, options } = this;
    const top = view.y(lane) + 1;
    const height = view.laneHeight - 2;
    const step = Math.min(5, height / 4);
    const right = [-1, -1, -1, -1];
    const { begin, scale, width } = view;
    const isHidden = run.classes.map((_, kind) => options.isHidden(kind));
    lane.forEachIn(view.begin, view.end, (content, i) => {
      const depth = Math.min(content.depth[i], 3);
      const from = Math.max(0, (content.begin[i] - begin) * scale);
      const to = Math.min(width, Math.max((content.end[i] - begin) * scale, from + 0.6));
      const phrase = run.phrases[content.phrase[i]];
      if (isHidden[phrase.callClass]) return;
      this.drawn.calls++;
      if (to <= right[depth] + 0.3) return;
      right[depth] = to;
      context.globalAlpha = !options.found || options.found(content, i) ? 1 : 0.18;
      const colour = colourOf(run.classes[phrase.callClass]);
      context.fillStyle = colour;
      context.fillRect(from, top + depth * step, to - from, height - depth * step);
      if (to - from > 3) {
        context.fillStyle = this.colours.paper; // a gap between neighbours
        context.fillRect(to - 0.5, top + depth * step, 0.5, height - depth * step);
      }
      if (to - from > 46 && height >= 12) this.labels.push([phrase.name, from + 4, top + depth * step + (height - depth * step) / 2, to - from - 8, colour]);
    });
    context.globalAlpha = 1;
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
    const { context, view } = this;
    const y = view.y(lane) + 1;
    context.fillStyle = this.hatch;
    let right = -1;
    for (let i = firstEnding(lane.waits, view.begin); i < lane.waits.length && lane.waits[i].begin <= view.end; i++) {
      const wait = lane.waits[i];
      const from = Math.max(0, view.x(wait.begin), right);
      const to = Math.min(view.width, view.x(wait.end));
      this.drawn.waits++;
      if (to - from < 0.8) continue;
      context.fillRect(from, y, to - from, view.laneHeight - 2);
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
    const { context, view, run } = this;
    const inTime = run.gatherings.filter((one) => one.communicator >= 0 && one.end >= view.begin && one.begin <= view.end && view.x(one.end) - view.x(one.begin) > 1);
    if (inTime.length > MOST_BANDS) return void this.drawn.hidden.push(`${inTime.length} bands of collective operations`);
    context.fillStyle = colourOf("collective");
    context.globalAlpha = 0.16;
    for (const one of inTime) {
      const members = run.communicators[one.communicator]?.ranks;
      const from = Math.max(0, view.x(one.begin));
      const to = Math.min(view.width, view.x(one.end));
      const width = Math.max(1, to - from);
      if (!members) context.fillRect(from, view.y(lanes[0]), width, lanes.length * view.laneHeight);
      else for (const lane of lanes) if (members.includes(lane.rank)) context.fillRect(from, view.y(lane), width, view.laneHeight);
      this.drawn.bands++;
    }
    context.globalAlpha = 1;
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
