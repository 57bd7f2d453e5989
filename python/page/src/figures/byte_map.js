// The bytes that a datatype stands for, and those that it skips.
import { count, drawn } from "../text.js";

const MOST_CELLS = 512; // bytes that are drawn one by one
const IN_A_ROW = 64; // of them
const CELL = 9; // pixels
const WIDTH = IN_A_ROW * CELL;
const HEIGHT = 18; // of a strip

/** From where to where it is drawn: all its bytes and its extent. */
function spanOf({ pieces, lb, extent }) {
  const begins = pieces.map(([begin]) => begin);
  const ends = pieces.map(([, end]) => end);
  const from = lb ?? 0;
  return [Math.min(from, ...begins), Math.max(from + (extent ?? 0), ...ends)];
}

function cells(pieces, begin, end) {
  const isData = new Uint8Array(end - begin);
  for (const [from, to] of pieces) isData.fill(1, from - begin, to - begin);
  const cell = (data, i) => drawn("rect", { class: data ? "data" : "gap", x: (i % IN_A_ROW) * CELL, y: Math.floor(i / IN_A_ROW) * CELL, width: CELL - 1, height: CELL - 1 });
  return [Array.from(isData, cell), Math.ceil(isData.length / IN_A_ROW) * CELL];
}

function strip(pieces, begin, end) {
  const x = (place) => ((place - begin) / (end - begin)) * WIDTH;
  const piece = ([from, to]) => drawn("rect", { class: "data", x: x(from), y: 0, width: Math.max(0.5, x(to) - x(from)), height: HEIGHT });
  return [[drawn("rect", { class: "gap", x: 0, y: 0, width: WIDTH, height: HEIGHT }), ...pieces.map(piece)], HEIGHT];
}

/** The pieces as text, the first ones: "0-7, 16-23, …". */
export function piecesText(pieces) {
  const some = pieces.slice(0, 8).map(([begin, end]) => (end - begin === 1 ? `${begin}` : `${begin}-${end - 1}`));
  return `${some.join(", ")}${pieces.length > 8 ? `, … (${count(pieces.length)} pieces)` : ""}`;
}

/** Of a datatype as the page knows it; its pieces must be known. */
export function byteMap(type) {
  const [begin, end] = spanOf(type);
  if (!(end > begin)) return null;
  const [shapes, height] = (end - begin <= MOST_CELLS ? cells : strip)(type.pieces, begin, end);
  const width = Math.min(WIDTH, end - begin <= MOST_CELLS ? (end - begin) * CELL : WIDTH);
  const label = `Bytes ${begin} to ${end - 1}; data is at ${piecesText(type.pieces)}`;
  return drawn("svg", { class: "bytes", role: "img", "aria-label": label, width, height, viewBox: `0 0 ${width} ${height}` }, drawn("title", {}, label), shapes);
}
