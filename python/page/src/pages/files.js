// How the run uses its files.
import { bytes, count, element, percent, place, seconds } from "../text.js";
import { accessesOf } from "../data/accesses.js";
import { bandwidth, colourings, fileMap, keys, overTime, ranks, sizes } from "../figures/file_figures.js";
import { table } from "../table.js";

function findings(rows) {
  if (!rows.length) return element("p", {}, "Nothing was found that could be done better.");
  const items = rows.map((row) => element("li", {}, element("b", {}, row.file), `: ${row.text}: ${place(row)}`, element("p", { class: "help" }, `Try ${row.try}`)));
  return element("ul", { class: "findings" }, items);
}

function uses(rows) {
  const share = (head, key, whole) => ({
    head,
    value: (row) => (row[whole] ? row[key] / row[whole] : 0),
    text: (row) => (row[whole] ? percent(row[key] / row[whole]) : ""),
  });
  const size = (head, key) => ({ head, value: (row) => row[key], text: (row) => bytes(row[key]) });
  const time = (head, key) => ({ head, value: (row) => row[key], text: (row) => seconds(row[key]) });
  return table(
    [
      { head: "file", value: (row) => row.file },
      { head: "processes", value: (row) => row.processes },
      size("read", "read_bytes"),
      size("written", "written_bytes"),
      time("time in calls", "seconds"),
      time("of that metadata", "metadata_seconds"),
      { head: "bandwidth", value: (row) => row.bandwidth ?? 0, text: (row) => (row.bandwidth === null ? "" : `${bytes(row.bandwidth)}/s`) },
      { head: "accesses", value: (row) => row.accesses, text: (row) => count(row.accesses) },
      share("small", "small", "accesses"),
      share("collective", "collective_accesses", "accesses"),
      share("strided", "strided", "placed"),
      share("consecutive", "consecutive", "placed"),
    ],
    rows,
    { caption: "files" },
  );
}

function phases(rows, show) {
  const all = rows.flatMap((row) => row.phases.map((phase) => ({ file: row.file, ...phase })));
  const link = (row) => element("button", { class: "link", onclick: () => show(row.begin * 1e9, row.end * 1e9) }, seconds(row.begin));
  return table(
    [
      { head: "file", value: (row) => row.file },
      { head: "begins", value: (row) => row.begin, link },
      { head: "takes", value: (row) => row.end - row.begin, text: (row) => seconds(row.end - row.begin) },
      { head: "read", value: (row) => row.read_bytes, text: (row) => bytes(row.read_bytes) },
      { head: "written", value: (row) => row.written_bytes, text: (row) => bytes(row.written_bytes) },
      { head: "bandwidth", value: (row) => row.bandwidth ?? 0, text: (row) => (row.bandwidth ? `${bytes(row.bandwidth)}/s` : "") },
    ],
    all,
    { caption: "when files are used" },
  );
}

function leftOut(file) {
  const parts = [];
  if (file.kept < file.accesses) parts.push(`${count(file.kept)} of ${count(file.accesses)} accesses are drawn, equally many of each time.`);
  if (file.is_cut) parts.push("Of accesses with very many pieces the first ones are drawn.");
  if (file.unplaced) parts.push(`${count(file.unplaced)} accesses are not drawn: the trace does not tell where in the file they are.`);
  return parts.length ? element("p", { class: "note" }, parts.join(" ")) : null;
}

/** The pictures of a file for a choice of colours. */
function figures(accesses, colouring, show) {
  const coloured = [overTime(accesses, colouring, show), fileMap(accesses, colouring)];
  return [keys(colouring.keys), ...coloured, sizes(accesses), bandwidth(accesses), ranks(accesses)];
}

/** Pictures of one file, which is chosen; its accesses are unpacked when somebody wants to see them. */
function pictures(run, show) {
  const drawn = element("div", { "aria-live": "polite" });
  let wanted = 0;
  const options = run.file_accesses.map((file, number) => element("option", { value: number }, file.file));
  const files = element("select", { id: "file" }, options);
  const by = element("select", { id: "colour" }, [["rank", "rank"], ["operation", "operation"]].map(([value, text]) => element("option", { value }, text)));
  const draw = async () => {
    const [file, mine] = [run.file_accesses[files.value], ++wanted];
    const accesses = file.kept ? await accessesOf(run.source, files.value) : [];
    if (mine !== wanted) return;
    drawn.replaceChildren(...(accesses.length ? figures(accesses, colourings(accesses)[by.value], show) : [element("p", {}, "Nothing of this file can be drawn.")]), leftOut(file) ?? "");
  };
  for (const choice of [files, by]) choice.addEventListener("change", draw);
  draw();
  const choices = element("div", { class: "controls" }, element("label", {}, "File ", files), element("label", {}, "Colours by ", by));
  return element("section", {}, element("h2", {}, "Where in a file, when and by whom"), choices, drawn);
}

/** show(begin, end): in the timeline, in nanoseconds. */
export function files(run, show) {
  const { io } = run.analysis;
  if (!io.files.length) return element("p", {}, "The run used no files with MPI.");
  return element(
    "div",
    {},
    element("section", {}, element("h2", {}, "What could be done better"), findings(io.findings)),
    element("section", {}, element("h2", {}, "Files"), uses(io.files)),
    element("section", {}, element("h2", {}, "When they are used"), phases(io.files, show)),
    run.file_accesses.length ? pictures(run, show) : null,
  );
}
