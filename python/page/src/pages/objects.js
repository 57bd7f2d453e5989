// What the run had, and how it was run.
import { byteMap, piecesText } from "../figures/byte_map.js";
import { figure } from "../figures/figure.js";
import { bytes, count, element, seconds } from "../text.js";
import { table } from "../table.js";

const name = { head: "name", value: (row) => row.name };
const processes = { head: "processes", value: (row) => row.processes };
const ranks = { head: "ranks", value: (row) => row.ranks };
const size = (head, key) => ({ head, value: (row) => row[key] ?? "", text: (row) => (row[key] === null ? "" : count(row[key])) });

function communicators(rows) {
  return figure("Communicators", "A communicator is a group of processes that send messages and make collective operations among themselves. Ranks are those of the whole run.", table([name, processes, ranks], rows, { caption: "communicators" }));
}

function datatypes(rows) {
  const map = (row) => (row.pieces ? element("div", { class: "byte-map" }, byteMap(row), element("span", { class: "note" }, piecesText(row.pieces))) : null);
  const columns = [
    { head: "name", value: (row) => row.name || "(no name)" },
    { head: "made by", value: (row) => row.combiner },
    size("bytes of data", "size"),
    size("extent", "extent"),
    { head: "bytes", value: (row) => (row.pieces ? piecesText(row.pieces) : "not described"), link: map },
    { head: "descriptions", value: (row) => row.count },
  ];
  const whatIsThis = "A datatype says which bytes of memory or of a file belong to an element. Filled cells are data, empty ones are skipped; the whole is the extent, the distance from one element to the next. Up to 512 bytes each cell is a byte, 64 in a row; what is larger is a strip.";
  return figure("Datatypes", whatIsThis, table(columns, rows, { caption: "datatypes" }));
}

function files(rows) {
  return figure("Files", "Files that were opened with MPI. How they are used is on the page Files.", table([name, { ...size("bytes at the beginning", "initial_size"), text: (row) => (row.initial_size === null ? "" : bytes(row.initial_size)) }, ranks], rows, { caption: "files" }));
}

function windows(rows) {
  return figure("Windows", "A window is memory that other processes read and write by themselves (one-sided communication).", table([name, processes, { ...size("bytes of all", "bytes"), text: (row) => bytes(row.bytes) }], rows, { caption: "windows" }));
}

function clocks(rows) {
  const columns = [
    { head: "host", value: (row) => row.host },
    { head: "added to its times", value: (row) => row.offset, text: (row) => seconds(row.offset) },
    { head: "drift", value: (row) => row.drift, text: (row) => `${(row.drift * 1e6).toFixed(3)} µs per second` },
    { head: "uncertainty", value: (row) => row.uncertainty ?? "", text: (row) => (row.uncertainty === null ? "not known" : seconds(row.uncertainty)) },
  ];
  return figure("Clocks", "Each host has a clock of its own. No message can arrive before it was sent: from all messages follows by how much clocks differ, and times of all pages are corrected by that.", table(columns, rows, { caption: "clocks" }));
}

const RUN_TITLES = { run: "How it was run", note: "Notes", setting: "Settings of the tracer other than their defaults", rule: "Rules", variable: "Environment", thread: "Threads", function: "Calls that were recorded, and left out" };

function runTable({ heads, rows }) {
  const columns = heads.map((head, i) => ({ head, value: (row) => row[i] }));
  return element("section", {}, element("h2", {}, RUN_TITLES[heads[0]] ?? heads[0]), table(columns, rows, { caption: heads[0] }));
}

export function objects(run) {
  const has = run.objects;
  const kinds = [[communicators, has.communicators], [datatypes, has.datatypes], [files, has.files], [windows, has.windows], [clocks, run.analysis.clocks]];
  return element(
    "div",
    {},
    has.description ? element("section", {}, element("h2", {}, "Description"), element("p", {}, has.description)) : null,
    has.run.map(runTable),
    kinds.filter(([, rows]) => rows.length).map(([make, rows]) => make(rows)),
  );
}
