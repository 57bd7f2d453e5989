// What hdtrace check found.
import { deadlockGraph } from "../figures/deadlock_graph.js";
import { capital, count, element, siteText } from "../text.js";

const MOST_OF_A_KIND = 25;

/** A place in the program, and on demand what led there. */
function end(name, site) {
  const line = (frame) => element("li", {}, siteText(frame), frame.file ? ` in ${frame.file}` : "");
  const frames = site.frames ?? [];
  const text = siteText(site);
  return [element("dt", {}, name), element("dd", {}, frames.length > 1 ? element("details", {}, element("summary", {}, text), element("ol", {}, frames.map(line))) : text)];
}

function ends(one) {
  const known = [["the call", one.site], ["the other call", one.other_site]].filter(([, site]) => site);
  return element("dl", { class: "where" }, known.flatMap(([name, site]) => end(name, site)), element("dt", {}, "trace"), element("dd", {}, `${one.file}${one.line ? `:${one.line}` : ""}`));
}

const severityOf = (one) => element("span", { class: `severity ${one.severity}` }, one.severity);

/** Among others of its kind, the first of which has that severity. */
function finding(one, severity) {
  return element("li", {}, ...(one.severity === severity ? [] : [severityOf(one), " "]), one.text, one.likewise ? ` (${one.likewise})` : "", one.waiting ? deadlockGraph(one.waiting) : null, ends(one), one.because ? element("p", { class: "help" }, `This may only be so because ${one.because} is not whole.`) : null);
}

/** How many there are: one may be of several ranks. */
export function countOf(findings) {
  return findings.reduce((sum, one) => sum + one.count, 0);
}

/** What may be wrong all the same. */
export function unknownIn(run) {
  return run.unknown.map((text) => element("p", { class: "caution" }, `${capital(text)}.`));
}

export function checks(run) {
  const unknown = unknownIn(run);
  if (!run.findings.length) return element("div", {}, element("p", {}, "Nothing wrong was found."), unknown);
  const kinds = [...new Set(run.findings.map((one) => one.kind))];
  return element(
    "div",
    {},
    unknown,
    kinds.map((name) => {
      const all = run.findings.filter((one) => one.kind === name);
      const facts = run.kinds[name];
      return element(
        "section",
        { class: "finding" },
        element("h2", {}, severityOf(all[0]), ` ${name}: ${facts.title}`, countOf(all) > 1 ? ` (${count(countOf(all))})` : ""),
        element("p", {}, facts.means),
        element("p", {}, element("b", {}, "What to do: "), facts.do),
        element("ul", {}, all.slice(0, MOST_OF_A_KIND).map((one) => finding(one, all[0].severity))),
        all.length > MOST_OF_A_KIND ? element("p", { class: "note" }, `The first ${MOST_OF_A_KIND} are shown; 'hdtrace check --all' shows all.`) : null,
      );
    }),
  );
}
