// What hdtrace check found.
import { count, element, siteText } from "../text.js";

const MOST_OF_A_KIND = 25;

function finding(one) {
  const ends = [one.site, one.other_site].filter(Boolean).map(siteText);
  return element("li", {}, one.text, ends.length ? element("p", { class: "where" }, ends.join(" — ")) : null, element("p", { class: "help" }, `${one.file}${one.line ? `:${one.line}` : ""}`));
}

export function checks(run) {
  if (!run.findings.length) return element("p", {}, "Nothing wrong was found.");
  const kinds = [...new Set(run.findings.map((one) => one.kind))];
  return element(
    "div",
    {},
    kinds.map((name) => {
      const all = run.findings.filter((one) => one.kind === name);
      const facts = run.kinds[name];
      return element(
        "section",
        { class: `finding ${all[0].severity}` },
        element("h2", {}, element("span", { class: "severity" }, all[0].severity), ` ${name}: ${facts.title}`, all.length > 1 ? ` (${count(all.length)})` : ""),
        element("p", {}, facts.means),
        element("p", {}, element("b", {}, "What to do: "), facts.do),
        element("ul", {}, all.slice(0, MOST_OF_A_KIND).map(finding)),
        all.length > MOST_OF_A_KIND ? element("p", { class: "note" }, `The first ${MOST_OF_A_KIND} are shown; 'hdtrace check --all' shows all.`) : null,
      );
    }),
  );
}
