/** Characters of the name of a dataset at the most, as the service counts them: POST /datasets refuses a longer one. */
const longest = 40;

/**
 * A name for a new dataset that none of the taken ones equals: the one that is wished for, cut where it is too long, or the same
 * with a number behind it, from 2.
 */
export function freeName(wished: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = cutWith(wished, number === 1 ? "" : ` (${number})`);
    if (!taken.has(name)) return name;
  }
}

/** Cuts between two code points: the service counts these, and half of one would be another text. */
function cutWith(name: string, ending: string): string {
  return [...name].slice(0, longest - ending.length).join("") + ending;
}
