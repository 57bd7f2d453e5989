// Texts and elements. Names out of a trace only ever become text nodes.

export const element = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

/** An element of a drawing. */
export const drawn = (name, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

function fill(made, attributes = {}, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  const nodesOf = made instanceof HTMLElement ? textNodes : printable;
  made.append(...children.flat().filter((child) => child !== null && child !== undefined).flatMap((child) => (child instanceof Node ? child : nodesOf(child))));
  return made;
}

const ESCAPES = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };
const escaped = (one) => ESCAPES[one] ?? Array.from(new TextEncoder().encode(one), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");

/** Control characters and those that turn lines around are shown as what they are, as on a terminal. */
export function printable(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, escaped);
}

const OF_RIGHT_TO_LEFT = "[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]";
const RIGHT_TO_LEFT = new RegExp(`(${OF_RIGHT_TO_LEFT}(?:[^\\p{L}]*${OF_RIGHT_TO_LEFT})*)`, "u"); // with what is between such letters

/** A text as it stands in an element: words from right to left do not turn around what is beside them. */
export function textNodes(text) {
  return printable(text).split(RIGHT_TO_LEFT).map((part, i) => (i % 2 ? element("bdi", {}, document.createTextNode(part)) : part));
}

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const ROUNDED_UP = 0.99995; // of a unit: that is one, with four digits

/** With four digits, or as many as stand before the point; of nanoseconds only whole ones are known. */
export function duration(nanoseconds) {
  const [factor, unit] = UNITS.find(([one]) => Math.abs(nanoseconds) >= ROUNDED_UP * one) ?? UNITS[3];
  const scaled = nanoseconds / factor;
  const behindPoint = factor > 1 ? 3 - scaled.toExponential(3).split("e")[1] : 0;
  return `${behindPoint > 0 ? scaled.toFixed(behindPoint) : count(Math.round(scaled) || 0)} ${unit}`; // and not -0
}

export const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** "1 error", "2 errors" */
export const counted = (value, one) => `${count(value)} ${one}${value === 1 ? "" : "s"}`;

/** With as many digits as steps between such times need. */
export function timeText(nanoseconds, step) {
  if (Math.abs(nanoseconds) < step / 2) return "0";
  const [factor, unit] = UNITS.find(([one]) => Math.abs(nanoseconds) >= one) ?? UNITS[3];
  return `${(nanoseconds / factor).toFixed(Math.max(0, Math.ceil(Math.log10(factor / step) - 1e-9)))} ${unit}`;
}

export const seconds = (value) => duration(value * 1e9);
export const percent = (value) => `${(value * 100).toFixed(1)} %`;
export const count = (value) => value.toLocaleString("en");

export function bytes(value) {
  const unit = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let power = 0;
  for (; value >= 1023.5 && power < unit.length - 1; power++) value /= 1024; // what would be 1024 when it is rounded
  return `${Number(value.toPrecision(4))} ${unit[power]}`;
}

/** Where a region begins or ends; rows that add up several of them do not tell which. */
function border(row) {
  if (row.left === undefined) return "a region";
  return row.left !== null ? `the end of region ${row.left}` : row.region ? `region ${row.region}` : "the beginning";
}

/** "MPI_Send at solve (solver.c:42)" of a row as analyses tell it, and what tells it apart from others that read the same. */
export function place(row) {
  const call = row.call ? `MPI_${row.call}` : border(row);
  return (row.site ? `${call} at ${siteText(row.site)}` : call) + (row.apart ?? "");
}

export function siteText(site) {
  if (!site) return "";
  const where = site.file ? `${site.file.split("/").pop()}${site.line ? `:${site.line}` : ""}` : "";
  return site.function ? (where ? `${site.function} (${where})` : site.function) : where || addressText(site.frames?.[0] ?? site);
}

/** "libsolver.so+0x2a4f" of a frame in a program without symbols, as the commands write it. */
function addressText(frame) {
  const offset = `0x${(frame.offset ?? 0).toString(16)}`;
  return frame.object ? `${frame.object.split("/").pop()}+${offset}` : offset;
}

export function activityText(row) {
  if (row.activity === "call") return place(row);
  return row.until ? `computation from ${place(row)} to ${place(row.until)}` : "before the first recorded call";
}
