// What the document carries behind its text.

/** The base64 of a part; null if it was left out. */
export function section(name) {
  return document.getElementById(`data-${name}`)?.textContent ?? null;
}

export function facts() {
  return JSON.parse(document.getElementById("facts").textContent);
}
