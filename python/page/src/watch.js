// What the processes of a run do now.
import { deadlockGraph } from "./figures/deadlock_graph.js";
import { figure } from "./figures/figure.js";
import { count, element, printable, textNodes } from "./text.js";
import { table } from "./table.js";

const EVERY = 1000; // milliseconds
const STATES = { inside: ["in a call of MPI", "inside"], polls: ["asks again and again", "polls"], computes: ["computes", "computes"], ended: ["has ended", "ended"] };

function processes(all) {
  const box = ([rank, state]) => element("span", { class: `process ${STATES[state][1]}`, title: `rank ${rank} ${STATES[state][0]}` }, String(rank));
  const known = Object.entries(STATES).map(([state, [text, name]]) => element("li", {}, element("span", { class: `swatch ${name}` }), text, " ", element("b", {}, count(all.filter((one) => one[1] === state).length))));
  return [element("div", { class: "processes", role: "img", "aria-label": `${all.length} threads` }, all.map(box)), element("ul", { class: "keys" }, known)];
}

function show(now) {
  const columns = now.heads.map((head, i) => ({ head, value: (row) => row[i] }));
  const stuck = now.stuck;
  document.querySelector("h1").replaceChildren(...textNodes(now.folder));
  document.title = `${printable(now.folder)} - hdtrace watch`;
  document.querySelector("main").replaceChildren(
    element("p", { class: "note", role: "status" }, now.has_ended ? "All processes have called MPI_Finalize." : `As of ${now.time ?? "…"}${now.rates && ": "}${now.rates}.`),
    stuck
      ? element(
          "section",
          { class: "finding" },
          element("h2", {}, stuck.is_forever ? "These processes can never go on" : stuck.waiting.length ? "These processes wait for each other" : "No process has moved"),
          stuck.waiting.length ? deadlockGraph(stuck.waiting) : element("ul", {}, stuck.lines.map((line) => element("li", {}, line))),
        )
      : "",
    figure("Processes", "Each box is a thread that called MPI, with its rank. Boxes with a thick border are in a call, dashed ones ask again and again whether something has happened, filled ones compute, and struck ones have ended.", ...processes(now.processes)),
    figure("What they are in", "Processes that are in the same call are one row; who is in it longest comes first. How many calls they made lately in each second, all together, is told beside it.", table(columns, now.rows, { caption: "calls", search: false })),
  );
}

function fail(text) {
  const problem = document.getElementById("problem");
  problem.hidden = !text;
  problem.textContent = text;
}

/** What a person has opened stays as it is until something changes. */
let last = "";

async function look() {
  try {
    const answer = await fetch("now");
    const text = await answer.text();
    const now = JSON.parse(text);
    if (text !== last) show(now);
    last = text;
    fail(now.problem);
    if (now.has_ended) return;
  } catch {
    fail("hdtrace watch does not answer: has it ended?");
  }
  setTimeout(look, EVERY);
}

look().then(() => (document.documentElement.dataset.ready = "yes"));
