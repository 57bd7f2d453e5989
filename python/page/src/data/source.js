// Where a page has its runs from.

const text = (id) => document.getElementById(id)?.textContent ?? null;

/** What the whole page is about: how many runs, how they compare, and whether a server has them. */
export const page = () => JSON.parse(text("page"));

function bytesOf(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** A run that the document carries behind its text. */
export class DocumentSource {
  constructor(number) {
    this.number = number;
  }

  async facts() {
    return JSON.parse(text(`facts-${this.number}`));
  }

  /** The bytes of a part of the timeline. */
  async section(name) {
    return bytesOf(text(`data-${this.number}-${name}`));
  }
}

/** One of which a server has the sections: they come when they are wanted. */
export class ServerSource extends DocumentSource {
  async section(name) {
    const answer = await fetch(`data-${this.number}-${name}`);
    if (!answer.ok) throw new Error(`the server answers ${answer.status}; is hdtrace view still running?`);
    return new Uint8Array(await answer.arrayBuffer());
  }
}
