// Pictures of the accesses of a file.
import { bytes, count, duration, element, timeText } from "../text.js";
import { Chart, scaleColour } from "./chart.js";
import { figure } from "./figure.js";

const READ = "#0072b2"; // those of Okabe and Ito, dark and light: also told apart without their hues
const WRITE = "#e69f00";
const BINS = 200; // of the time
const HEADROOM = 1.05; // above the highest bar

const bytesText = (value) => (value ? bytes(value) : "0");
const rateText = (value) => (value ? `${bytes(value)}/s` : "0");
const timeAxis = (from, to) => ({ from, to, name: "time since the beginning of the run", text: timeText });
const offsetAxis = (to) => ({ from: 0, to, name: "offset in the file", text: bytesText, isBinary: true });

/** How accesses are coloured: { text, of: (access) => colour, keys: [[text, colour]] } */
export function colourings(accesses) {
  const ranks = accesses.map((one) => one.rank);
  const [low, high] = [Math.min(...new Set(ranks)), Math.max(...new Set(ranks))];
  const ofRank = (rank) => scaleColour(high > low ? (rank - low) / (high - low) : 0.5);
  const some = high - low < 8 ? [...new Set(ranks)].sort((a, b) => a - b) : [low, Math.round((low + high) / 2), high];
  return {
    rank: { text: "rank", of: (access) => ofRank(access.rank), keys: some.map((rank) => [`rank ${rank}`, ofRank(rank)]) },
    operation: { text: "operation", of: (access) => (access.isWrite ? WRITE : READ), keys: [["read", READ], ["write", WRITE]] },
  };
}

export function keys(pairs) {
  const entry = ([text, colour]) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = colour;
    return element("li", {}, swatch, text);
  };
  return element("ul", { class: "keys" }, pairs.map(entry));
}

function says(access) {
  return `Rank ${access.rank} ${access.isWrite ? "writes" : "reads"} ${bytes(access.size)}${access.isCollective ? " collectively" : ""} from ${bytes(access.pieces[0][0])} on${access.pieces.length > 1 ? ` in ${count(access.pieces.length)} pieces` : ""}, at ${duration(access.begin)} for ${duration(access.end - access.begin)}.`;
}

const endOf = (accesses) => Math.max(1, accesses.reduce((most, one) => Math.max(most, one.pieces.reduce((last, piece) => Math.max(last, piece[1]), 0)), 0));

export function overTime(accesses, colouring, open) {
  const from = accesses.reduce((least, one) => Math.min(least, one.begin), Infinity);
  const to = accesses.reduce((most, one) => Math.max(most, one.end), from + 1);
  const end = endOf(accesses);
  const nearest = (x, y) => {
    const [nearX, nearY] = [(to - from) / 80, end / 40];
    const distance = (one) => Math.max(0, one.begin - x, x - one.end) / nearX + one.pieces.reduce((least, [begin, last]) => Math.min(least, Math.max(0, begin - y, y - last)), Infinity) / nearY;
    const best = accesses.reduce((found, one) => (distance(one) < distance(found) ? one : found), accesses[0]);
    return distance(best) < 1 ? best : null;
  };
  const chart = new Chart({
    label: "Each mark is an access: from where to where in the file, and when. Point at one to read it, click it to see it in the timeline.",
    height: 340,
    x: timeAxis(from, to),
    y: offsetAxis(end),
    draw: (context, x, y) => {
      for (const one of accesses) {
        context.fillStyle = colouring.of(one);
        const [left, width] = [x(one.begin), Math.max(1.5, x(one.end) - x(one.begin))];
        for (const [begin, last] of one.pieces) context.fillRect(left, y(last), width, Math.max(1.5, y(begin) - y(last)));
      }
    },
    say: (x, y) => {
      const one = nearest(x, y);
      return one ? says(one) : "";
    },
    open: (x, y) => {
      const one = nearest(x, y);
      if (one) open(one.begin, one.end);
    },
  });
  return figure("Offsets over time", "Time goes from left to right, the file from its first byte at the bottom to its last one at the top. Steady lines are consecutive accesses; many short marks beside each other are small ones; marks of several colours at one height are processes that share a part of the file.", chart.element);
}

const MAP = 512; // pixels

/** The file as a matrix of bytes in rows; later accesses are above earlier ones. */
class FileMap {
  constructor(accesses, colouring) {
    Object.assign(this, { accesses, colouring });
    this.size = endOf(accesses);
    this.canvas = element("canvas", { class: "map", role: "img", "aria-label": "Map of the file: which bytes were accessed by whom" });
    this.words = element("p", { class: "note", role: "status" });
    this.canvas.addEventListener("pointermove", (event) => this.#say(event));
    this.show(2 ** Math.ceil(Math.log2(Math.sqrt(this.size))));
  }

  /** width: bytes in a row. */
  show(width) {
    this.width = Math.max(1, Math.min(width, this.size));
    this.rows = Math.ceil(this.size / this.width);
    const [columns, rows] = [Math.min(MAP, this.width), Math.min(MAP, this.rows)];
    [this.canvas.width, this.canvas.height] = [columns, rows];
    const context = this.canvas.getContext("2d");
    const [x, y] = [columns / this.width, rows / this.rows];
    for (const access of this.accesses) {
      context.fillStyle = this.colouring.of(access);
      for (const [begin, end] of access.pieces) this.#fill(context, begin, end, x, y);
    }
    this.words.textContent = `${count(this.rows)} rows of ${bytes(this.width)}, the first one at the top.`;
  }

  // The first row from where it begins, whole rows, the last row to where it ends.
  #fill(context, begin, end, x, y) {
    const { width } = this;
    const [first, last] = [Math.floor(begin / width), Math.floor((end - 1) / width)];
    const part = (row, from, to) => context.fillRect(Math.floor(from * x), Math.floor(row * y), Math.max(1, Math.ceil(to * x) - Math.floor(from * x)), Math.max(1, Math.ceil((row + 1) * y) - Math.floor(row * y)));
    if (first === last) return part(first, begin % width, ((end - 1) % width) + 1);
    part(first, begin % width, width);
    part(last, 0, ((end - 1) % width) + 1);
    if (last > first + 1) context.fillRect(0, Math.floor((first + 1) * y), Math.ceil(width * x), Math.max(1, Math.ceil(last * y) - Math.floor((first + 1) * y)));
  }

  #say(event) {
    const box = this.canvas.getBoundingClientRect();
    const place = Math.floor((event.offsetY / box.height) * this.rows) * this.width + Math.floor((event.offsetX / box.width) * this.width);
    const here = this.accesses.filter((one) => one.pieces.some(([begin, end]) => begin <= place && place < end));
    this.words.textContent = here.length ? `Byte ${count(place)}: ${says(here.at(-1))}${here.length > 1 ? ` ${count(here.length - 1)} more before.` : ""}` : `Byte ${count(place)}: not accessed.`;
  }
}

export function fileMap(accesses, colouring) {
  const map = new FileMap(accesses, colouring);
  const input = element("input", { type: "number", min: 1, max: map.size, value: map.width, oninput: () => input.value >= 1 && map.show(Math.floor(Number(input.value))) });
  const step = (text, title, factor) => element("button", { title, "aria-label": title, onclick: () => ((input.value = Math.max(1, Math.min(map.size, Math.round(map.width * factor)))), map.show(Number(input.value))) }, text);
  return figure(
    "Map of the file",
    "All bytes of the file in rows, as a matrix that is stored row by row; white parts were not accessed, and where several accesses are, the last one is seen. Set the width to the bytes of a row of your data: blocks and stripes of processes appear as such.",
    element("label", {}, "Bytes in a row ", input),
    " ",
    step("÷2", "Half as wide", 0.5),
    step("×2", "Twice as wide", 2),
    map.canvas,
    map.words,
  );
}

/** Bars that stand on each other: each has what is read below what is written. */
function bars(context, x, y, rows) {
  rows.forEach(([from, to, read, written]) => {
    const [left, width] = [x(from), Math.max(1, x(to) - x(from) - 1)];
    context.fillStyle = READ;
    context.fillRect(left, y(read), width, y(0) - y(read));
    context.fillStyle = WRITE;
    context.fillRect(left, y(read + written), width, y(read) - y(read + written));
  });
}

const operationKeys = () => keys([["read", READ], ["written", WRITE]]);

export function sizes(accesses) {
  const rows = [];
  for (const one of accesses) {
    const power = Math.floor(Math.log2(Math.max(1, one.size)));
    rows[power] ??= [power, power + 1, 0, 0];
    rows[power][one.isWrite ? 3 : 2]++;
  }
  const known = rows.filter(Boolean);
  const sizeText = (power) => (Number.isInteger(power) ? bytes(2 ** power) : "");
  const chart = new Chart({
    label: "How many accesses have which size.",
    height: 220,
    x: { from: known[0][0], to: known.at(-1)[1], name: "bytes of an access", text: sizeText },
    y: { from: 0, to: HEADROOM * Math.max(...known.map((row) => row[2] + row[3])), name: "accesses", text: (value) => (Number.isInteger(value) ? count(value) : "") },
    draw: (context, x, y) => bars(context, x, y, known),
    say: (x) => {
      const row = rows[Math.floor(x)];
      return row ? `From ${bytes(2 ** row[0])} to below ${bytes(2 ** row[1])}: ${count(row[2])} reads, ${count(row[3])} writes.` : "";
    },
  });
  return figure("Sizes of accesses", "Each bar is the number of accesses of a size, by powers of two. Small accesses are slow on most file systems.", chart.element, operationKeys());
}

export function bandwidth(accesses) {
  const from = accesses.reduce((least, one) => Math.min(least, one.begin), Infinity);
  const to = accesses.reduce((most, one) => Math.max(most, one.end), from + 1);
  const width = (to - from) / BINS;
  const rows = Array.from({ length: BINS }, (_, i) => [from + i * width, from + (i + 1) * width, 0, 0]);
  for (const one of accesses) {
    const [first, last] = [one.begin, Math.max(one.end, one.begin + 1)];
    const rate = one.size / (last - first);
    for (let i = Math.floor((first - from) / width); i < BINS && rows[i][0] < last; i++)
      rows[i][one.isWrite ? 3 : 2] += (rate * Math.max(0, Math.min(last, rows[i][1]) - Math.max(first, rows[i][0])) * 1e9) / width;
  }
  const chart = new Chart({
    label: "Bytes per second of all processes together.",
    height: 220,
    x: timeAxis(from, to),
    y: { from: 0, to: HEADROOM * Math.max(1, ...rows.map((row) => row[2] + row[3])), name: "bytes per second", text: rateText, isBinary: true },
    draw: (context, x, y) => bars(context, x, y, rows),
    say: (x) => {
      const row = rows[Math.floor((x - from) / width)];
      return row ? `At ${duration(row[0])}: ${rateText(row[2])} read, ${rateText(row[3])} written.` : "";
    },
  });
  return figure("Bandwidth over time", "The bytes of each access are spread over the time that its call takes; what processes do at the same time is added.", chart.element, operationKeys());
}

export function ranks(accesses) {
  const rows = new Map();
  for (const one of accesses) {
    const row = rows.get(one.rank) ?? { rank: one.rank, read: 0, written: 0, time: 0, count: 0 };
    row[one.isWrite ? "written" : "read"] += one.size;
    row.time += one.end - one.begin;
    row.count++;
    rows.set(one.rank, row);
  }
  const all = [...rows.values()].sort((one, other) => one.rank - other.rank);
  const [first, last] = [all[0].rank, all.at(-1).rank];
  const chart = (label, name, most, text, draw, isBinary) =>
    new Chart({
      label,
      height: 200,
      x: { from: first - 0.5, to: last + 0.5, name: "rank", text: (value) => (Number.isInteger(value) ? String(value) : "") },
      y: { from: 0, to: HEADROOM * Math.max(1, most), name, text, isBinary },
      draw,
      say: (x) => {
        const row = rows.get(Math.round(x));
        return row ? `Rank ${row.rank}: ${count(row.count)} accesses, ${bytes(row.read)} read, ${bytes(row.written)} written, in calls for ${duration(row.time)}.` : "";
      },
    });
  const [left, right] = [(row) => row.rank - 0.4, (row) => row.rank + 0.4];
  const drawBytes = (context, x, y) => bars(context, x, y, all.map((row) => [left(row), right(row), row.read, row.written]));
  const drawTimes = (context, x, y, colours) => {
    context.fillStyle = colours.quiet;
    for (const row of all) context.fillRect(x(left(row)), y(row.time), Math.max(1, x(right(row)) - x(left(row))), y(0) - y(row.time));
  };
  const moved = chart("Bytes of each rank.", "bytes", Math.max(...all.map((row) => row.read + row.written)), bytesText, drawBytes, true);
  const times = chart("Time of each rank in accesses.", "time", Math.max(...all.map((row) => row.time)), timeText, drawTimes);
  return figure("Ranks beside each other", "Bars of different heights above are processes that move more data than others; if heights differ below only, some wait longer for the same.", moved.element, operationKeys(), times.element);
}
