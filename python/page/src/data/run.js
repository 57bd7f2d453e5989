// A run, as the document tells it.
import { lanesOf } from "./lane.js";
import { Packed, unpack } from "./packed.js";

const WAITING = 15; // as in hdtrace/report/shares.h

function phraseOf([name, callClass, words, leftOut], classes) {
  const all = words.map(([element, key, value, meaning]) => ({ element, key, value, meaning }));
  return { name, callClass: classes.indexOf(callClass), words: all, numbers: all.filter((word) => word.value === null), leftOut };
}

export class Run {
  /** source: has the sections of the timeline; isServed: lanes are loaded when they are looked at. */
  constructor(source, facts, isServed) {
    Object.assign(this, facts);
    Object.assign(this, { source, isServed });
    this.lanes = lanesOf(source, this.lanes);
    this.phrases = this.phrases.map((phrase) => phraseOf(phrase, this.classes));
    this.path = [];
    this.gatherings = [];
    this.hosts = [...new Set(this.lanes.map((lane) => lane.host))];
    this.order = this.hosts.flatMap((host) => this.lanes.filter((lane) => lane.host === host));
    this.order.forEach((lane, row) => (lane.row = row));
  }

  get waiting() {
    return WAITING;
  }

  /** What is seen from far away. */
  loadShares() {
    this.loadingShares ??= this.#loadShares();
    return this.loadingShares;
  }

  async #loadShares() {
    const packed = new Packed(await this.#unpacked("shares"));
    for (const lane of this.lanes)
      for (let count = packed.number(); count > 0; count--) {
        const kind = packed.number();
        lane.shares.set(kind, packed.bytes.subarray(packed.position, packed.position + this.parts));
        packed.position += this.parts;
      }
  }

  get isLoaded() {
    return this.lanes.every((lane) => lane.blocks || !lane.isDetailed);
  }

  /** Gets the calls of all lanes. */
  async loadLanes(progress = () => {}) {
    for (const lane of this.order) {
      await lane.load();
      progress();
    }
  }

  /** About how many calls of a lane there are in this time. */
  countIn(lane, begin, end) {
    if (lane.blocks || !this.isServed) return lane.countIn(begin, end);
    return lane.calls * Math.max(0, Math.min(1, (Math.min(end, this.duration) - Math.max(begin, 0)) / Math.max(1, this.duration)));
  }

  async #unpacked(name) {
    return unpack(await this.source.section(name));
  }

  /** The rows of the analysis for places in the program, of one rank. */
  async sitesOf(rank) {
    this.siteTimes ??= JSON.parse(new TextDecoder().decode(await this.#unpacked("ranks")));
    const row = ([number, computation, mpi, waiting, calls]) => ({ ...this.analysis.time.site[number], seconds: computation + mpi, computation, mpi, waiting, calls });
    return this.siteTimes[rank].map(row);
  }

  loadOverlays() {
    this.loadingOverlays ??= this.#loadOverlays();
    return this.loadingOverlays;
  }

  async #loadOverlays() {
    const [path, gatherings] = await Promise.all(["path", "gatherings"].map((name) => this.#unpacked(name)));
    this.#readPath(new Packed(path));
    this.#readGatherings(new Packed(gatherings));
  }

  #readPath(packed) {
    const count = packed.number();
    const [lanes, begins, durations] = Array.from({ length: 3 }, () => packed.column());
    let begin = 0;
    this.path = Array.from({ length: count }, () => {
      const lane = lanes.number();
      begin += begins.signed();
      return { lane: this.lanes[lane], begin, end: begin + durations.number() };
    });
  }

  #readGatherings(packed) {
    const count = packed.number();
    const [kinds, calls, communicators, firsts, lasts, ends, latest] = Array.from({ length: 7 }, () => packed.column());
    let begin = 0;
    this.gatherings = Array.from({ length: count }, () => {
      begin += firsts.signed();
      const last = begin + lasts.number();
      return {
        kind: kinds.number(),
        call: this.gathering_names[calls.number()],
        communicator: communicators.number() - 1,
        begin,
        last,
        end: last + ends.number(),
        latest: this.lanes[latest.number()],
      };
    });
  }

  /** All attributes of a call: [name, value, what that names]. */
  attributesOf(lane, content, position) {
    const phrase = this.phrases[content.phrase[position]];
    const numbers = lane.numbersOf(content, position, this.phrases);
    return phrase.words.map((word) => [
      word.element ? `${word.element}: ${word.key}` : word.key,
      word.value ?? String(numbers.shift()),
      word.meaning,
    ]);
  }

  /** Where a call was made; null if it is not known. */
  siteOf(content, position) {
    return this.sites[content.site[position] - 1] ?? null;
  }
}
