// A picture with two axes that have units.
import { element } from "../text.js";

const LEFT = 74; // pixels for the numbers of an axis
const BOTTOM = 34;
const TOP = 8;
const RIGHT = 12;

/** Steps of 1, 2, 5, 10, ... or, of bytes, of powers of two. */
export function ticks(from, to, most, isBinary) {
  const wanted = Math.max((to - from) / most, Number.MIN_VALUE);
  const power = isBinary ? 2 ** Math.ceil(Math.log2(wanted)) : 10 ** Math.floor(Math.log10(wanted));
  const step = isBinary ? Math.max(1, power) : [1, 2, 5, 10].map((one) => one * power).find((one) => one >= wanted * (1 - 1e-9));
  const all = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9 && all.length < 100; i++) all.push(i * step || 0); // and not -0
  return { all, step };
}

/**
 * axis: { from, to, name, text: (value, step) => of a tick, isBinary }
 * draw(context, x, y, colours): in pixels; say(x, y): what is there, for who points at it; open(x, y): for who clicks it
 */
export class Chart {
  constructor({ label, height = 300, x, y, draw, say = () => "", open = null }) {
    Object.assign(this, { height, axes: { x, y }, drawInside: draw });
    this.canvas = element("canvas", { class: "plot", role: "img", "aria-label": label });
    this.words = element("p", { class: "note", role: "status" }, label);
    this.element = element("div", { class: "chart-box" }, this.canvas, this.words);
    this.canvas.style.height = `${height}px`;
    this.canvas.addEventListener("pointermove", (event) => (this.words.textContent = say(...this.#valuesAt(event)) || label));
    this.canvas.addEventListener("pointerleave", () => (this.words.textContent = label));
    if (open) this.canvas.addEventListener("click", (event) => open(...this.#valuesAt(event)));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  get inside() {
    return { width: Math.max(1, this.width - LEFT - RIGHT), height: this.height - TOP - BOTTOM };
  }

  #x = (value) => LEFT + ((value - this.axes.x.from) / (this.axes.x.to - this.axes.x.from || 1)) * this.inside.width;
  #y = (value) => TOP + (1 - (value - this.axes.y.from) / (this.axes.y.to - this.axes.y.from || 1)) * this.inside.height;

  #valuesAt(event) {
    const { x, y } = this.axes;
    const { width, height } = this.inside;
    return [x.from + ((event.offsetX - LEFT) / width) * (x.to - x.from), y.from + (1 - (event.offsetY - TOP) / height) * (y.to - y.from)];
  }

  draw() {
    this.width = this.canvas.clientWidth;
    if (!this.width) return;
    const ratio = window.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [this.width * ratio, this.height * ratio];
    const context = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const colours = Object.fromEntries(["ink", "quiet", "line", "paper", "ground", "link", "error"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    context.scale(ratio, ratio);
    context.fillStyle = colours.ground;
    context.fillRect(LEFT, TOP, this.inside.width, this.inside.height);
    this.#drawAxes(context, colours);
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, this.inside.width, this.inside.height);
    context.clip();
    this.drawInside(context, this.#x, this.#y, colours);
    context.restore();
  }

  #drawAxes(context, colours) {
    const { x, y } = this.axes;
    const bottom = TOP + this.inside.height;
    context.font = "11px system-ui, sans-serif";
    context.strokeStyle = colours.line;
    context.fillStyle = colours.quiet;
    context.textAlign = "center";
    const across = ticks(x.from, x.to, Math.max(2, this.inside.width / 110), x.isBinary);
    for (const value of across.all) {
      context.strokeRect(this.#x(value), TOP, 0, this.inside.height);
      context.fillText(x.text(value, across.step), Math.min(this.#x(value), this.width - 30), bottom + 14);
    }
    context.textAlign = "right";
    const up = ticks(y.from, y.to, 5, y.isBinary);
    for (const value of up.all) {
      context.strokeRect(LEFT, this.#y(value), this.inside.width, 0);
      context.fillText(y.text(value, up.step), LEFT - 5, this.#y(value) + 4);
    }
    context.fillStyle = colours.ink;
    context.textAlign = "center";
    context.fillText(x.name, LEFT + this.inside.width / 2, this.height - 5);
    context.save();
    context.translate(11, TOP + this.inside.height / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(y.name, 0, 0);
    context.restore();
  }
}

const SCALE = [[0x35, 0x65, 0xb0], [0x5e, 0x72, 0x8e], [0x80, 0x7d, 0x72], [0xa4, 0x8d, 0x54], [0xc9, 0xa1, 0x10]];

/** A colour for a part from 0 to 1 of a scale: from blue to yellow, as cividis, which all people can tell apart; both ends are seen on light and dark. */
export function scaleColour(part) {
  const at = Math.max(0, Math.min(1, part)) * (SCALE.length - 1);
  const [low, rest] = [Math.min(Math.floor(at), SCALE.length - 2), at - Math.min(Math.floor(at), SCALE.length - 2)];
  const channel = (i) => Math.round(SCALE[low][i] * (1 - rest) + SCALE[low + 1][i] * rest);
  return `rgb(${channel(0)} ${channel(1)} ${channel(2)})`;
}
