// What figures have in common: a sentence that says what they are.
import { element } from "../text.js";

/** What a figure shows, for who asks. */
export const whatIsThis = (text) => element("details", { class: "what" }, element("summary", {}, "What is this?"), element("p", {}, text));

export function figure(title, explanation, ...content) {
  return element("section", {}, element("h2", {}, title), whatIsThis(explanation), ...content);
}
