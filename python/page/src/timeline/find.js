// Finds calls by what they are, whose they are, and where they are made.

/** What a text in the search field means: `rank 3`, or part of a name, a file, a communicator or a place in the program. */
export function meaningOf(run, text) {
  const wanted = text.trim().toLowerCase().replace(/^mpi_/, "");
  if (!wanted) return null;
  const rank = /^(?:rank|r)?[ :]*(\d+)(?:\.(\d+))?$/.exec(wanted);
  if (rank) return { lane: run.lanes.find((lane) => lane.rank === Number(rank[1]) && lane.thread === Number(rank[2] ?? 0)) ?? null };
  const has = (one) => one !== null && one !== undefined && String(one).toLowerCase().includes(wanted);
  const phrases = new Set();
  run.phrases.forEach((phrase, number) => {
    if (has(phrase.name) || phrase.words.some((word) => has(word.meaning) || (word.value && has(word.value)))) phrases.add(number);
  });
  const sites = new Set();
  run.sites.forEach((site, number) => [site.text, site.file].some(has) && sites.add(number + 1));
  return { fits: (content, i) => phrases.has(content.phrase[i]) || sites.has(content.site[i]) };
}

const beginOf = ({ content, position }) => content.begin[position];

/** Calls follow each other by their beginnings; where these are the same, by lanes and then as in the trace. */
function isBehind(call, other) {
  const steps = [beginOf(call) - beginOf(other), call.lane.row - other.lane.row, call.block.position - other.block.position, call.position - other.position];
  return steps.find((step) => step !== 0) > 0;
}

/** The first call that fits, over all lanes; of those behind `last`, if that is given. */
export function next(run, fits, last) {
  let best = null;
  for (const lane of run.order)
    lane.forEachIn(last ? beginOf(last) : -Infinity, best ? beginOf(best) : Infinity, (content, position, block) => {
      if (!fits(content, position)) return true;
      const call = { lane, content, position, block };
      if (last && !isBehind(call, last)) return true;
      if (!best || beginOf(call) < beginOf(best)) best = call;
      return false;
    });
  return best;
}

/** How many calls fit. */
export function countAll(run, fits) {
  let count = 0;
  for (const lane of run.lanes) lane.forEachIn(-Infinity, Infinity, (content, i) => void (count += fits(content, i)));
  return count;
}

/** The innermost call of a lane at a time, or the one nearest to it within a tolerance. */
export function callAt(lane, time, tolerance) {
  let best = null;
  lane.forEachIn(time - tolerance, time + tolerance, (content, position) => {
    const distance = Math.max(0, content.begin[position] - time, time - content.end[position]);
    if (!best || distance < best.distance || (distance === best.distance && content.depth[position] >= best.content.depth[best.position]))
      best = { lane, content, position, distance };
  });
  return best;
}

/** The call before or after another one of its lane. */
export function neighbour(chosen, step) {
  const { lane, content, position } = chosen;
  if (content.begin[position + step] !== undefined) return { lane, content, position: position + step };
  const block = lane.blocks.findIndex((one) => lane.content(one).begin[0] === content.begin[0]);
  const beside = lane.blocks[block + step];
  if (!beside) return chosen;
  const other = lane.content(beside);
  return { lane, content: other, position: step > 0 ? 0 : other.size - 1 };
}
