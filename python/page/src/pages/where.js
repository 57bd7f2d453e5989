// Where in the program the time went.
import { element, percent, place, seconds, siteText } from "../text.js";
import { figure } from "../figures/figure.js";
import { Flame } from "../figures/flame.js";
import { table } from "../table.js";

function times(whole) {
  const time = (head, key) => ({ head, value: (row) => row[key], text: (row) => seconds(row[key]) });
  return [
    time("time", "seconds"),
    { head: "share", value: (row) => (whole ? row.seconds / whole : 0), text: (row) => (whole ? percent(row.seconds / whole) : "") },
    time("computation", "computation"),
    time("in MPI", "mpi"),
    time("waiting", "waiting"),
    { head: "calls", value: (row) => row.calls },
  ];
}

/** Places in the program, of all ranks or one that is chosen. */
function places(run, find) {
  const { site, rank } = run.analysis.time;
  const root = element("div");
  const link = (row) => (row.site ? element("button", { class: "link", onclick: () => find(row.site.file ?? row.site.function ?? row.call) }, siteText(row.site)) : null);
  const columns = [{ head: "call", value: (row) => place({ call: row.call }) }, { head: "place", value: (row) => siteText(row.site), link }];
  const show = (rows, whole) => root.replaceChildren(table([...columns, ...times(whole)], rows, { caption: "places in the program" }));
  const { whole } = run;
  const choose = async (event) => {
    const chosen = event.target.value;
    if (chosen === "all") return show(site, whole);
    const rows = await run.sitesOf(chosen);
    if (event.target.value === chosen) show(rows, rank.find((row) => String(row.rank) === chosen).seconds);
  };
  const options = [element("option", { value: "all" }, "all ranks"), ...rank.map((row) => element("option", { value: row.rank }, `rank ${row.rank}`))];
  show(site, whole);
  return [run.has_ranks ? element("label", {}, "Time of ", element("select", { id: "rank", onchange: choose }, options)) : null, root];
}

export function where(run, find) {
  const { region, rank } = run.analysis.time;
  const { whole } = run;
  const columns = times(whole);
  return element(
    "div",
    {},
    figure("Flame graph", "The width is time of all processes together: the top is the whole run, below it regions of the program, functions and what they call, and at the bottom calls of MPI in the colours of the timeline, and the computation behind them. Wide boxes are where the time goes. Click a box, or go to it with Tab and press Enter, to see it alone. Functions are known as deep as call sites were recorded.", new Flame(run.analysis.time.stack, run.whole).element),
    element("section", {}, element("h2", {}, "Places in the program"), element("p", { class: "help" }, "Each row is a call and where it is; its computation is the time from there to the next call. Click a head to sort, a place to see it in the timeline."), places(run, find)),
    region.length > 1 ? element("section", {}, element("h2", {}, "Regions of the program"), table([{ head: "region", value: (row) => row.region || "(none)" }, ...columns], region, { caption: "regions" })) : null,
    element("section", {}, element("h2", {}, "Ranks"), table([{ head: "rank", value: (row) => row.rank }, ...columns], rank, { caption: "ranks" })),
  );
}
