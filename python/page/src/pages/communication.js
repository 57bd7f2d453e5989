// Who talks to whom, and which collective operations last longest.
import { bytes, capital, count, duration, element, seconds, place } from "../text.js";
import { figure } from "../figures/figure.js";
import { table } from "../table.js";

const SIZE = 520;

const ALL = "all communicators";

/** All that is sent and waited for; of groups of so many ranks where the tables lack some of it. */
function pictureOf(run) {
  const waits = () => run.analysis.wait_states.filter((one) => one.cause).map((one) => ({ from: one.rank, to: one.cause.rank, communicator: one.communicator, seconds: one.seconds }));
  return run.picture ?? { width: 1, sent: run.matrix_by_communicator.length ? run.matrix_by_communicator : run.matrix, waits: waits() };
}

/** What the matrix can show, on a communicator or on all: its cells are { from, to, value }. */
function kindsOf(run, picture, communicator) {
  const isAll = communicator === ALL;
  const sent = picture.sent.filter((one) => isAll || nameOf(run, one.communicator) === communicator);
  const waits = picture.waits.filter((one) => isAll || one.communicator === communicator);
  return {
    bytes: { cells: cellsOf(sent, (one) => one.bytes), text: bytes, says: ["sends to", "send to"] },
    messages: { cells: cellsOf(sent, (one) => one.messages), text: (value) => `${count(value)} messages`, says: ["sends to", "send to"] },
    waiting: { cells: cellsOf(waits, (one) => one.seconds * 1e9), text: (value) => duration(value), says: ["waits for", "wait for"] },
  };
}

function nameOf(run, communicator) {
  return run.communicators[communicator]?.name ?? "an unknown one";
}

/** On which messages were sent, the one with most bytes first; none if there is but one. */
function communicatorsOf(run) {
  const sums = new Map();
  for (const one of run.matrix_by_communicator) {
    const name = nameOf(run, one.communicator);
    sums.set(name, (sums.get(name) ?? 0) + one.bytes);
  }
  return [...sums].sort((one, other) => other[1] - one[1]).map(([name]) => name);
}

/** One for each pair that has some of it. */
function cellsOf(rows, valueOf) {
  const cells = new Map();
  for (const one of rows) {
    const key = `${one.from} ${one.to}`;
    const cell = cells.get(key) ?? { from: one.from, to: one.to, value: 0 };
    cell.value += valueOf(one);
    cells.set(key, cell);
  }
  return [...cells.values()];
}

// Darker is more, by the logarithm.
function drawMatrix(canvas, groups, cells) {
  const context = canvas.getContext("2d");
  const cell = SIZE / groups;
  const most = cells.reduce((largest, one) => Math.max(largest, one.value), 1);
  canvas.width = canvas.height = SIZE;
  for (const one of cells) {
    const part = Math.log1p(one.value) / Math.log1p(most);
    context.fillStyle = `hsl(205 90% ${92 - 70 * part}%)`;
    context.fillRect(one.to * cell, one.from * cell, Math.max(cell - (cell > 4 ? 0.5 : 0), 1), Math.max(cell - (cell > 4 ? 0.5 : 0), 1));
  }
  return most;
}

function choiceOf(names, label, onchange) {
  return element("select", { "aria-label": label, onchange }, names.map((name) => element("option", { value: name }, name)));
}

function matrix(run) {
  let kind;
  const picture = pictureOf(run);
  const groups = Math.ceil(run.processes / picture.width);
  const ranks = (group) => (picture.width > 1 ? `ranks ${group * picture.width} to ${Math.min((group + 1) * picture.width, run.processes) - 1}` : `rank ${group}`);
  const canvas = element("canvas", { class: "matrix", role: "img", "aria-label": "Matrix of processes: rows send to columns, or wait for them" });
  const words = element("p", { class: "note", role: "status" });
  const show = () => {
    kind = kindsOf(run, picture, on.value)[what.value];
    const most = drawMatrix(canvas, groups, kind.cells);
    const darkest = kind.cells.length ? `Darkest: ${kind.text(most)}; the scale is logarithmic.` : "There is nothing of that.";
    const rows = picture.width > 1 ? `The ${count(picture.width)} processes of a row ${kind.says[1]} those of a column` : `The process of a row ${kind.says[0]} that of a column`;
    words.textContent = `${rows}; rank 0 is at the top left. ${darkest}`;
  };
  const what = choiceOf(Object.keys(kindsOf(run, picture, ALL)), "What the matrix shows", show);
  const communicators = communicatorsOf(run);
  const on = choiceOf([ALL, ...communicators], "On which communicator", show);
  canvas.addEventListener("pointermove", (event) => {
    const cell = canvas.getBoundingClientRect().width / groups;
    const [to, from] = [Math.floor(event.offsetX / cell), Math.floor(event.offsetY / cell)];
    const one = kind.cells.find((each) => each.from === from && each.to === to);
    words.textContent = `${capital(ranks(from))} ${kind.says[picture.width > 1 ? 1 : 0]} ${ranks(to)}: ${one ? kind.text(one.value) : "nothing"}`;
  });
  show();
  return element("div", {}, what, communicators.length ? element("span", {}, " on ", on) : null, element("div", { class: "scroll" }, canvas), words);
}

/** What stays on a host, and what goes between hosts. */
function hosts(run) {
  const columns = [
    { head: "from host", value: (row) => row.from },
    { head: "to host", value: (row) => row.to },
    { head: "messages", value: (row) => row.messages, text: (row) => count(row.messages) },
    { head: "bytes", value: (row) => row.bytes, text: (row) => bytes(row.bytes) },
  ];
  return figure("Messages between hosts", "Messages inside a host are mostly faster than those over the network. If much goes between hosts that could stay inside one, another placement of the ranks may help.", table(columns, run.host_matrix, { caption: "pairs of hosts" }));
}

export function communication(run, show) {
  const pairs = table(
    [
      { head: "from rank", value: (row) => row.from },
      { head: "to rank", value: (row) => row.to },
      { head: "messages", value: (row) => row.messages, text: (row) => count(row.messages) },
      { head: "bytes", value: (row) => row.bytes, text: (row) => bytes(row.bytes) },
    ],
    [...run.matrix].sort((one, other) => other.bytes - one.bytes),
    { caption: "pairs of ranks" },
  );
  const waits = table(
    [
      { head: "waiting", value: (row) => row.seconds, text: (row) => seconds(row.seconds) },
      { head: "kind", value: (row) => row.kind },
      { head: "of rank", value: (row) => row.rank },
      { head: "in", value: place },
      { head: "for rank", value: (row) => row.cause?.rank ?? "" },
      { head: "which came to", value: (row) => (row.cause ? place(row.cause) : "") },
      { head: "times", value: (row) => row.count },
    ],
    run.analysis.wait_states,
    { caption: "wait states" },
  );
  const slowest = [...run.gatherings].sort((one, other) => other.end - other.begin - (one.end - one.begin)).slice(0, 100);
  const collectives = table(
    [
      { head: "call", value: (row) => `MPI_${row.call}`, link: (row) => element("button", { class: "link", onclick: () => show(row.begin, row.end) }, `MPI_${row.call}`) },
      { head: "communicator", value: (row) => run.communicators[row.communicator]?.name ?? "" },
      { head: "begins", value: (row) => row.begin, text: (row) => duration(row.begin) },
      { head: "from the first to the last member", value: (row) => row.last - row.begin, text: (row) => duration(row.last - row.begin) },
      { head: "last came rank", value: (row) => row.latest.rank },
      { head: "then until all had left", value: (row) => row.end - row.last, text: (row) => duration(row.end - row.last) },
    ],
    slowest,
    { caption: "slowest collective operations" },
  );
  return element(
    "div",
    {},
    figure("Messages between processes", "Each cell of the matrix is a pair of processes: the row sends to the column, or, if waiting is chosen, waits for it. Darker cells are more. A line beside the diagonal are neighbours that talk to each other; a full matrix is a program in which all talk to all. Messages of collective operations are not in it.", ...(run.matrix.length || run.analysis.wait_states.some((one) => one.cause) ? [matrix(run), pairs] : [element("p", {}, "No process sent a message to another one.")])),
    run.hosts.length > 1 && run.matrix.length ? hosts(run) : null,
    figure("Who waited for whom", "Each row is a kind of waiting (a wait state) of one process at one call, summed up over the run, and which call of which process ended it.", run.analysis.wait_states.length ? waits : element("p", {}, "No waiting was found.")),
    figure("Slowest collective operations", "A collective operation is complete when all members have come. If the time to the last member is most of it, the members do not come at the same time, and the last one is whom to look at; if what comes then is most of it, the operation itself takes long.", slowest.length ? collectives : element("p", {}, "There was no collective operation of several processes.")),
  );
}
