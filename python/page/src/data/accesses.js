// The accesses of a file, as hdtrace/report/file_accesses.h packs them.
import { Packed, unpack } from "./packed.js";

/** In the order of their begins, in nanoseconds after that of the run: { begin, end, rank, isWrite, isCollective, size, pieces: [[begin, end]] } */
export async function accessesOf(source, number) {
  const packed = new Packed(await unpack(await source.section(`file-${number}`)));
  const count = packed.number();
  const [begins, durations, ranks, kinds, counts, gaps, lengths] = Array.from({ length: 7 }, () => packed.column());
  let [time, place] = [0, 0];
  const piece = () => {
    const begin = place + gaps.signed();
    place = begin + lengths.number();
    return [begin, place];
  };
  return Array.from({ length: count }, () => {
    time += begins.signed();
    const kind = kinds.byte();
    const access = { begin: time, end: time + durations.number(), rank: ranks.number(), isWrite: (kind & 1) > 0, isCollective: (kind & 2) > 0 };
    access.pieces = Array.from({ length: counts.number() }, piece);
    access.size = access.pieces.reduce((sum, [begin, end]) => sum + end - begin, 0);
    return access;
  });
}
