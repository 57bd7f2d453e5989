// Tables that are sorted by a click on a head and filtered by a text.
import { element } from "./text.js";

const MOST_ROWS = 500;

/**
 * columns: { head, value: row => number or text to sort by, text: row => what is shown, link: row => an element instead }
 */
export function table(columns, rows, { caption, search = rows.length > 12 } = {}) {
  let sorted = rows;
  let wanted = "";
  let by = null;
  let isDown = true;
  const body = element("tbody");
  const note = element("p", { class: "note" });
  const shown = (column, row) => (column.text ?? column.value)(row);

  function fill() {
    const fitting = wanted ? sorted.filter((row) => columns.some((column) => String(shown(column, row)).toLowerCase().includes(wanted))) : sorted;
    body.replaceChildren(
      ...fitting.slice(0, MOST_ROWS).map((row) =>
        element("tr", {}, columns.map((column) => element("td", { class: typeof column.value(row) === "number" ? "number" : "" }, column.link?.(row) ?? shown(column, row)))),
      ),
    );
    note.textContent = fitting.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${fitting.length} rows are shown.` : "";
  }

  function sort(column, head) {
    isDown = by === column ? !isDown : typeof column.value(rows[0] ?? {}) === "number";
    by = column;
    const sign = isDown ? -1 : 1;
    sorted = [...rows].sort((one, other) => {
      const [a, b] = [column.value(one), column.value(other)];
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
    });
    head.parentNode.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    fill();
  }

  const heads = columns.map((column) => {
    const head = element("th", { scope: "col" });
    head.append(rows.length > 1 ? element("button", { onclick: () => sort(column, head) }, column.head) : column.head);
    return head;
  });
  fill();
  const input = element("input", {
    type: "search",
    placeholder: "Filter rows",
    "aria-label": `Filter rows of ${caption ?? "the table"}`,
    oninput: (event) => {
      wanted = event.target.value.toLowerCase();
      fill();
    },
  });
  return element(
    "div",
    { class: "table" },
    search ? input : null,
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption ?? "table" }, element("table", {}, element("thead", {}, element("tr", {}, heads)), body)),
    note,
  );
}
