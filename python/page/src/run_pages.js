// The pages of one run. Each is made when it is asked for.
import { checks } from "./pages/checks.js";
import { communication } from "./pages/communication.js";
import { files } from "./pages/files.js";
import { iterations } from "./pages/iterations.js";
import { objects } from "./pages/objects.js";
import { summary } from "./pages/summary.js";
import { where } from "./pages/where.js";
import { element } from "./text.js";
import { Timeline } from "./timeline/timeline.js";

export const PAGES = { summary: "Summary", timeline: "Timeline", where: "Where", iterations: "Iterations", communication: "Communication", files: "Files", checks: "Checks", objects: "Objects and run" };

export class RunPages {
  /** go(): shows the timeline of this run; onMove(): its time has changed. */
  constructor(run, go, onMove) {
    Object.assign(this, { run, go });
    const root = element("div");
    this.timeline = new Timeline(run, root, onMove);
    this.made = { timeline: root };
  }

  /** The element of a page. */
  page(name) {
    this.made[name] ??= this.#make(name);
    return this.made[name];
  }

  #make(name) {
    const showTime = (begin, end) => this.#openTimeline(() => this.timeline.zoomTo(begin, end));
    const find = (text) => this.#openTimeline(() => this.#find(text));
    const makers = {
      summary: () => summary(this.run, (row) => this.#openCause(row)),
      where: () => where(this.run, find),
      iterations: () => iterations(this.run, showTime),
      communication: () => this.#whenLoaded(() => communication(this.run, showTime)),
      files: () => files(this.run, showTime),
      checks: () => checks(this.run),
      objects: () => objects(this.run),
    };
    return makers[name]();
  }

  /** What needs the collective operations is there when they are. */
  #whenLoaded(make) {
    const root = element("div");
    this.run.loadOverlays().then(() => root.append(make()));
    return root;
  }

  #openTimeline(act) {
    this.go();
    act();
    this.timeline.draw();
    this.timeline.canvas.focus();
  }

  #find(text) {
    return this.timeline.find((this.timeline.search.value = text));
  }

  /** Shows the first call where a cause is. */
  #openCause(row) {
    this.#openTimeline(async () => {
      await this.#find(row.site?.file ?? row.call ?? `rank ${row.rank}`);
      this.timeline.findNext();
    });
  }
}
