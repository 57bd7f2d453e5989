// The timeline: lanes, what is seen of them, and what a person does with them.
import { whatIsThis } from "../figures/figure.js";
import { count, counted, duration, element } from "../text.js";
import { colourOf } from "./colours.js";
import { describeCall, describeMark, describeSelection } from "./describe.js";
import { Drawing, drawRuler } from "./draw.js";
import { callAt, countAll, meaningOf, neighbour, next } from "./find.js";
import { HIGHEST_LANE, View } from "./view.js";

const LAYERS = { waits: "waiting (hatched)", messages: "messages", collectives: "collective operations", path: "critical path", counters: "counters" };

const EXPLANATION =
  "Each row is a thread of a process, time goes from left to right. Colours are calls of MPI, what is not coloured is computation. Hatched parts are waiting for others, arrows are messages from their sender to their receiver, pale bands are collective operations, and the line from process to process is the critical path: what is on it is what the length of the run is made of. Turn the wheel or press w and s to zoom, drag or press a and d to move, f to see everything; click a call, or press j and n, to read all about it.";
const LOWEST = 260; // pixels of the picture
const REDRAWN_AFTER = 300; // milliseconds, while calls are unpacked

export class Timeline {
  /** onMove: is told what a person does; isPlain: without search and legend, as one of several; highest: in pixels. */
  constructor(run, root, onMove, { isPlain = false, highest = Infinity } = {}) {
    Object.assign(this, { run, root, onMove, isPlain, highest });
    this.hidden = new Set();
    this.options = { waits: true, messages: true, collectives: true, path: true, counters: true, isHidden: (kind) => this.hidden.has(kind), found: null, selection: null, chosen: null };
    this.view = new View(run);
    this.#build();
    this.drawing = new Drawing(this.canvas, run, this.view, this.options);
    this.#listen();
  }

  #build() {
    this.names = element("div", { class: "lane-names", "aria-hidden": "true" });
    this.ruler = element("canvas", { class: "ruler", "aria-hidden": "true" });
    this.canvas = element("canvas", {
      class: "lanes",
      tabindex: "0",
      role: "application",
      "aria-label": "Timeline. w and s zoom, a and d or left and right pan, up and down scroll lanes, f shows everything, j and k choose a lane, n and p a call.",
    });
    this.tip = element("div", { class: "tip", hidden: true, role: "tooltip" });
    this.status = element("p", { class: "note", role: "status" });
    this.details = element("div", { class: "details", "aria-live": "polite" });
    this.search = element("input", { type: "search", placeholder: "Find a call, rank 3, a file, a source line", "aria-label": "Find calls" });
    this.matches = element("span", { class: "note" });
    const button = (text, title, act) => element("button", { title, "aria-label": title, onclick: () => (act(), this.moved()) }, text);
    const controls = element(
      "div",
      { class: "controls" },
      this.search,
      button("Next", "Go to the next match (Enter)", () => this.findNext()),
      button("+", "Zoom in (w)", () => this.view.zoom(0.5)),
      button("−", "Zoom out (s)", () => this.view.zoom(2)),
      button("Fit", "Show everything (f)", () => this.view.fit()),
      this.matches,
    );
    const picture = element("div", { class: "timeline" }, this.names, element("div", { class: "picture" }, this.ruler, this.canvas, this.tip));
    picture.style.maxHeight = `${Math.min(this.highest, Math.max(this.isPlain ? 60 : LOWEST, this.run.order.length * HIGHEST_LANE + 26))}px`;
    this.root.append(...(this.isPlain ? [] : [whatIsThis(EXPLANATION), controls, this.#buildLegend()]), picture, this.status, this.details);
  }

  #buildLegend() {
    const known = new Set(this.run.analysis.activities.map((row) => row.activity));
    const used = this.run.phrases.length ? new Set(this.run.phrases.map((phrase) => phrase.callClass)) : new Set([...this.run.classes.keys()].filter((kind) => known.has(this.run.classes[kind])));
    const entry = (text, swatch, isOn, change) =>
      element("label", {}, element("input", { type: "checkbox", checked: isOn, onchange: (event) => (change(event.target.checked), this.moved()) }), swatch, text);
    const classes = [...used].sort((a, b) => a - b).map((kind) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = colourOf(this.run.classes[kind]);
      return entry(this.run.classes[kind], swatch, true, (isOn) => (isOn ? this.hidden.delete(kind) : this.hidden.add(kind)));
    });
    const layers = Object.entries(LAYERS).map(([name, text]) => entry(text, element("span", { class: `swatch ${name}` }), true, (isOn) => (this.options[name] = isOn)));
    return element("div", { class: "legend", role: "group", "aria-label": "What is shown" }, classes, layers);
  }

  async load() {
    this.resize();
    await this.run.loadShares();
    this.draw();
    const wasDrawn = performance.now();
    await this.run.loadOverlays();
    if (!this.run.isServed) await this.#loadAll();
    this.isLoaded = true;
    this.draw();
    return wasDrawn;
  }

  /** Shows now and then what is there. */
  async #loadAll() {
    let drawn = performance.now();
    await this.run.loadLanes(() => {
      if (performance.now() - drawn < REDRAWN_AFTER) return;
      this.draw();
      drawn = performance.now();
    });
  }

  get isSeen() {
    return this.canvas.getClientRects().length > 0;
  }

  resize() {
    if (!this.isSeen) return;
    this.drawing.resize();
    this.view.scroll(0);
    if (!this.hasLaneHeight) this.view.fitLanes();
    this.hasLaneHeight = true;
    this.draw();
  }

  /** At the next frame. */
  moved() {
    this.onMove?.();
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = null;
    if (!this.drawing.ratio || !this.isSeen) return;
    const drawn = this.drawing.draw();
    if (this.run.isServed && this.drawing.isDetailed) this.#loadSeen();
    drawRuler(this.ruler, this.view, this.drawing.ratio, this.drawing.colours);
    this.#drawNames();
    const how = this.#whatIsShown(drawn);
    const hidden = drawn.hidden.length ? ` Zoom in to see ${drawn.hidden.join(" and ")}.` : "";
    const all = this.run.lanes.length;
    const lanes = drawn.lanes < all ? `${drawn.lanes} of ${count(all)} threads` : counted(all, "thread");
    this.status.textContent = `${duration(this.view.seen)} of ${lanes}: ${how}.${hidden}`;
  }

  #whatIsShown(drawn) {
    const absent = this.view.visible.filter((lane) => !lane.isDetailed).length;
    if (absent && absent === drawn.lanes) return "shares of time; single calls are not in this page (--limit)";
    const calls = this.drawing.isDetailed ? `${count(drawn.calls)} calls` : "shares of time, as there are too many calls: zoom in";
    return `${calls}, ${count(drawn.arrows)} messages${absent ? `; those of ${counted(absent, "thread")} are not in this page (--limit)` : ""}`;
  }

  async #loadSeen() {
    const missing = this.view.visible.filter((lane) => lane.isDetailed && !lane.isLoading);
    if (!missing.length) return;
    await Promise.all(missing.map((lane) => lane.load()));
    this.draw();
  }

  #drawNames() {
    let host = null;
    let after = -Infinity; // the row of the name before
    const every = Math.ceil(13 / this.view.laneHeight);
    this.names.replaceChildren(
      ...this.view.visible.flatMap((lane) => {
        const isNew = lane.host !== host;
        host = lane.host;
        if (!isNew && (lane.row % every || lane.row - after < every)) return [];
        after = lane.row;
        const name = element("div", { class: isNew ? "first" : "", title: `rank ${lane.name} on ${lane.host}` }, isNew && this.run.hosts.length > 1 ? element("span", { class: "host" }, element("bdi", {}, lane.host)) : "", element("span", {}, ` ${lane.name}`));
        name.style.top = `${this.view.y(lane) + 22}px`;
        name.style.lineHeight = `${this.view.laneHeight}px`;
        return [name];
      }),
    );
  }

  // What a person does

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#point(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("keydown", (event) => this.#key(event));
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.search.addEventListener("keydown", (event) => event.key === "Enter" && (this.findNext(), this.moved()));
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.resize());
  }

  #wheel(event) {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.view.pan(event.deltaX || event.deltaY);
    else if (event.altKey) this.view.scroll(event.deltaY);
    else this.view.zoom(1.0016 ** event.deltaY, event.offsetX);
    this.moved();
  }

  #press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { x: event.offsetX, y: event.offsetY, isSelecting: event.shiftKey, from: this.view.timeAt(event.offsetX), hasMoved: false };
  }

  #point(event) {
    if (!this.drag) return this.#showTip(event.offsetX, event.offsetY);
    const { drag } = this;
    drag.hasMoved ||= Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) > 3;
    if (!drag.hasMoved) return;
    this.tip.hidden = true;
    if (drag.isSelecting) {
      const to = this.view.timeAt(event.offsetX);
      this.options.selection = [Math.min(drag.from, to), Math.max(drag.from, to)];
    } else {
      this.view.pan(drag.x - event.offsetX);
      this.view.scroll(drag.y - event.offsetY);
      [drag.x, drag.y] = [event.offsetX, event.offsetY];
    }
    this.moved();
  }

  #release(event) {
    const { drag } = this;
    this.drag = null;
    if (drag?.isSelecting && drag.hasMoved) this.select(...this.options.selection);
    else if (drag && !drag.hasMoved) this.choose(this.#callUnder(event.offsetX, event.offsetY));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey) return;
    const quarter = this.view.width / 4;
    const acts = {
      w: () => this.view.zoom(0.7), s: () => this.view.zoom(1 / 0.7), a: () => this.view.pan(-quarter), d: () => this.view.pan(quarter),
      ArrowLeft: () => this.view.pan(-quarter), ArrowRight: () => this.view.pan(quarter), ArrowUp: () => this.view.scroll(-60), ArrowDown: () => this.view.scroll(60),
      f: () => this.view.fit(), j: () => this.#chooseLane(1), k: () => this.#chooseLane(-1), n: () => this.#step(1), p: () => this.#step(-1),
      Escape: () => this.clear(), "[": () => this.#selectFrom(), "]": () => this.#selectTo(),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
    this.moved();
  }

  // [ and ] select from and to the chosen call.
  #selectFrom() {
    const { chosen } = this.options;
    if (chosen) this.from = chosen.content.begin[chosen.position];
  }
  #selectTo() {
    const { chosen } = this.options;
    if (chosen && this.from !== undefined) this.select(this.from, Math.max(this.from, chosen.content.end[chosen.position]));
  }

  #callUnder(x, y) {
    const lane = this.view.laneAt(y);
    return lane?.blocks && this.drawing.isDetailed ? callAt(lane, this.view.timeAt(x), 3 / this.view.scale) : null;
  }

  #showTip(x, y) {
    const lane = this.view.laneAt(y);
    const near = (time) => Math.abs(this.view.x(time) - x) < 4;
    const mark = lane?.marks.find((one) => (one.kind ? near(one.begin) : y - this.view.y(lane) < 4 && one.begin <= this.view.timeAt(x) && one.end >= this.view.timeAt(x)));
    const call = mark ? null : this.#callUnder(x, y);
    this.tip.hidden = !mark && !call;
    if (this.tip.hidden) return;
    this.tip.replaceChildren(mark ? describeMark(this.run, mark) : describeCall(this.run, call));
    const { width, height } = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(0, Math.min(x + 14, this.view.width - width))}px`;
    this.tip.style.top = `${y + 40 + height > this.view.height + 22 ? Math.max(0, y - height) : y + 40}px`;
  }

  choose(call) {
    this.options.chosen = call;
    this.details.replaceChildren(...(call ? [describeCall(this.run, call)] : []));
    this.moved();
  }

  async #chooseLane(step) {
    const row = (this.options.chosen?.lane.row ?? -1) + step;
    const lane = this.run.order[Math.min(Math.max(row, 0), this.run.order.length - 1)];
    this.view.reveal(lane);
    if (this.run.isServed) await lane.load();
    if (lane.blocks) this.choose(callAt(lane, (this.view.begin + this.view.end) / 2, (this.view.end - this.view.begin) / 2));
  }

  #step(step) {
    if (!this.options.chosen) return this.#chooseLane(1);
    this.choose(neighbour(this.options.chosen, step));
    const { content, position } = this.options.chosen;
    if (content.begin[position] < this.view.begin || content.end[position] > this.view.end) this.goTo(content.begin[position], content.end[position]);
  }

  goTo(begin, end) {
    const margin = Math.max(end - begin, (this.view.end - this.view.begin) / 4);
    this.view.show(begin - margin, end + margin);
  }

  /** As large as it can be seen with what is around it. */
  zoomTo(begin, end) {
    this.view.show(begin - (end - begin), end + (end - begin));
  }

  select(begin, end) {
    this.options.selection = [begin, end];
    this.details.replaceChildren(describeSelection(this.run, [begin, end]));
    this.moved();
  }

  clear() {
    this.options.selection = this.options.chosen = null;
    this.details.replaceChildren();
  }

  /** Those that fit a text; a server may have to be asked for them first. */
  async find(text) {
    const meaning = meaningOf(this.run, text);
    if (meaning?.fits && this.run.isServed && !this.run.isLoaded) return this.#findWhenLoaded(text);
    this.options.found = meaning?.fits ?? null;
    this.foundLane = meaning?.lane;
    this.lastFound = null;
    if (meaning?.lane) this.view.reveal(meaning.lane);
    this.matches.textContent = !meaning ? "" : meaning.fits ? `${count(countAll(this.run, meaning.fits))} calls` : meaning.lane ? `rank ${meaning.lane.name}` : "no such rank";
    this.moved();
  }

  async #findWhenLoaded(text) {
    this.matches.textContent = "reading all calls…";
    await this.run.loadLanes();
    if (this.search.value === text) await this.find(text);
  }

  findNext() {
    if (!this.options.found) return;
    const call = next(this.run, this.options.found, this.lastFound) ?? next(this.run, this.options.found, null);
    if (!call) return;
    this.lastFound = call;
    const begin = call.content.begin[call.position];
    const end = call.content.end[call.position];
    const length = Math.min(Math.max((end - begin) * 6, 1000), this.view.end - this.view.begin);
    this.view.show((begin + end - length) / 2, (begin + end + length) / 2);
    this.view.reveal(call.lane);
    this.choose(call);
  }
}
