// The calls of a thread, its wait states, its messages and its regions. All times are nanoseconds after the run's beginning.
import { Packed, unpack } from "./packed.js";

const COUNTER = 2; // of the kinds of marks
const MOST_UNPACKED = 4000; // blocks of a thousand calls, of all lanes together

/** Unpacked blocks, the last used at the end. */
const unpacked = new Map();

function remember(block, content) {
  unpacked.delete(block);
  unpacked.set(block, content);
  if (unpacked.size > MOST_UNPACKED) unpacked.delete(unpacked.keys().next().value);
  return content;
}

function unpackBlock(bytes, block) {
  const packed = new Packed(bytes, block.position);
  const [gaps, durations, depths, phrases, sites, numbers] = Array.from({ length: 6 }, () => packed.column());
  const size = block.count;
  const content = {
    size,
    begin: new Float64Array(size),
    end: new Float64Array(size),
    depth: new Uint8Array(size),
    phrase: new Uint32Array(size),
    site: new Uint32Array(size),
    numbers,
  };
  let last = block.begin;
  for (let i = 0; i < size; i++) {
    content.begin[i] = last + gaps.signed();
    last = content.end[i] = content.begin[i] + durations.number();
    content.depth[i] = depths.number();
    content.phrase[i] = phrases.number();
    content.site[i] = sites.number();
  }
  return content;
}

/** Of each counter its values in the order of time, and the smallest and the largest one; without those that are no numbers. */
function countersOf(marks) {
  const counters = new Map();
  for (const mark of marks) {
    const known = counters.get(mark.name) ?? { name: mark.name, values: [], least: Infinity, most: -Infinity };
    known.values.push(mark);
    known.least = Math.min(known.least, mark.value);
    known.most = Math.max(known.most, mark.value);
    counters.set(mark.name, known);
  }
  return [...counters.values()];
}

/** Neighbouring lanes, of which a section has all that is drawn when one looks close. */
class LaneGroup {
  constructor(source, number) {
    Object.assign(this, { source, number, lanes: [] });
  }

  load() {
    this.loading ??= this.#load();
    return this.loading;
  }

  async #load() {
    const packed = new Packed(await unpack(await this.source.section(`lanes-${this.number}`)));
    for (const lane of this.lanes) lane.read(packed);
  }
}

/** All lanes of a run, as its facts tell of them. */
export function lanesOf(source, rows) {
  const groups = new Map();
  return rows.map((row) => {
    const groupNumber = row.at(-1); // null: only shares of its time are known
    if (groupNumber !== null && !groups.has(groupNumber)) groups.set(groupNumber, new LaneGroup(source, groupNumber));
    const group = groups.get(groupNumber);
    const lane = new Lane(row, group);
    group?.lanes.push(lane);
    return lane;
  });
}

class Lane {
  constructor([rank, thread, host, calls, messages], group) {
    Object.assign(this, { rank, thread, host, calls, messages, group });
    this.blocks = null;
    this.waits = this.marks = this.received = this.counters = [];
    this.shares = new Map();
  }

  get name() {
    return this.thread ? `${this.rank}.${this.thread}` : `${this.rank}`;
  }

  /** Whether single calls are known, or can be got. */
  get isDetailed() {
    return Boolean(this.group);
  }

  get isLoading() {
    return Boolean(this.group?.loading);
  }

  /** Gets what is drawn when one looks close. */
  async load() {
    await this.group?.load();
  }

  read(group) {
    const [calls, messages, waits, marks] = Array.from({ length: 4 }, () => group.column());
    this.#readMessages(messages);
    this.#readWaits(waits);
    this.#readMarks(marks);
    this.#readBlocks(calls);
  }

  #readBlocks(packed) {
    const count = packed.number();
    const list = packed.column();
    packed.number(); // the size of all blocks
    let position = packed.position;
    let begin = 0;
    this.blocks = Array.from({ length: count }, () => {
      begin += list.signed();
      const block = { begin, end: begin + list.number(), count: list.number(), position };
      position += list.number();
      return block;
    });
    this.bytes = packed.bytes;
  }

  #readMessages(packed) {
    const count = packed.number();
    const [ends, durations, sources, sizes, tags, communicators] = Array.from({ length: 6 }, () => packed.column());
    let end = 0;
    this.received = Array.from({ length: count }, () => {
      end += ends.signed();
      return {
        end,
        begin: end - durations.signed(),
        from: sources.number(),
        size: sizes.number(),
        tag: tags.signed(),
        communicator: communicators.number() - 1,
      };
    });
    this.longestMessage = this.received.reduce((longest, one) => Math.max(longest, one.end - one.begin), 0);
  }

  #readWaits(packed) {
    const count = packed.number();
    const [kinds, begins, durations, causes] = Array.from({ length: 4 }, () => packed.column());
    let begin = 0;
    this.waits = Array.from({ length: count }, () => {
      begin += begins.signed();
      return { kind: kinds.number(), begin, end: begin + durations.number(), cause: causes.number() - 1 };
    });
  }

  #readMarks(packed) {
    let begin = 0;
    this.marks = Array.from({ length: packed.number() }, () => {
      const kind = packed.number();
      begin += packed.signed();
      return { kind, begin, end: begin + packed.number(), name: packed.number(), depth: packed.number(), value: packed.double() };
    });
    this.counters = countersOf(this.marks.filter((mark) => mark.kind === COUNTER && Number.isFinite(mark.value)));
  }

  content(block) {
    return remember(block, unpacked.get(block) ?? unpackBlock(this.bytes, block));
  }

  /** About how many calls there are in this time: those of a block are taken to be spread evenly. */
  countIn(begin, end) {
    let count = 0;
    for (const block of this.blocks ?? []) {
      if (block.end < begin || block.begin > end) continue;
      const inside = Math.min(end, block.end) - Math.max(begin, block.begin);
      count += block.count * (block.end > block.begin ? inside / (block.end - block.begin) : 1);
    }
    return count;
  }

  /** Calls `see(content, position, block)` for the calls that are partly in this time, by their beginnings. */
  forEachIn(begin, end, see) {
    for (const block of this.blocks ?? []) {
      if (block.end < begin) continue;
      if (block.begin > end) break;
      const content = this.content(block);
      for (let i = 0; i < content.size && content.begin[i] <= end; i++)
        if (content.end[i] >= begin && see(content, i, block) === false) return;
    }
  }

  /** The numbers that a call tells. */
  numbersOf(content, position, phrases) {
    const packed = new Packed(content.numbers.bytes, content.numbers.position);
    const last = new Map();
    for (let i = 0; ; i++) {
      const phrase = content.phrase[i];
      const before = last.get(phrase) ?? [];
      const numbers = phrases[phrase].numbers.map((_, k) => (before[k] ?? 0) + packed.signed());
      if (i === position) return numbers;
      last.set(phrase, numbers);
    }
  }
}
