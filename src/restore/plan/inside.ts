import { isBlank, type Text } from "./hand.js";

/** Characters of a window. A text of twice as many has a whole window of any text that it stands inside. */
const size = 64;

export interface InsideOptions<T extends Text> {
  /** Texts of people that have no chunk of the target. */
  readonly manual: readonly T[];
  /** Texts of the indexing that have no chunk of the target. */
  readonly automatic: readonly T[];
  /** Texts of the indexing that people replaced, and that have no chunk of the target either. */
  readonly replaced: readonly Text[];
  /** Texts of the older run that have a chunk of the target. */
  readonly paired: readonly Text[];
  /** The texts of the target, as they will be after the edits are brought back. */
  readonly targets: readonly Text[];
}

/**
 * Finds the lost texts inside chunks of the target: the content inside the content, the answer inside the answer. A text is found only
 * if the target has it more often than the rest of the older run. So a text that a person added is lost even if the source says the
 * same, in a chunk that did not change or that was cut at other places, and a restore that continues an earlier one finds the same texts
 * lost. A blank text is never found.
 */
export function findInside<T extends Text>(options: InsideOptions<T>): ReadonlySet<T> {
  const { manual, automatic, replaced, paired, targets } = options;
  const now = new TextIndex(targets);
  const foundIn = (lost: readonly T[], rest: readonly Text[]) => {
    const before = new TextIndex(rest);
    return lost
      .toSorted((one, other) => lengthOf(other) - lengthOf(one))
      .filter((text) => {
        const isFound = !isBlank(text.content) && now.count(text) > before.count(text);
        if (isFound) before.add(text);
        return isFound;
      });
  };
  const ofIndexing = foundIn(automatic, paired);
  return new Set([...ofIndexing, ...foundIn(manual, [...paired, ...automatic, ...replaced])]);
}

function lengthOf({ content, answer }: Text): number {
  return content.length + (answer ?? "").length;
}

/** Counts how often a text stands inside some texts. Long contents are looked up by windows: comparing all texts with all would take too long. */
class TextIndex {
  readonly #texts: Text[] = [];
  readonly #windows = new Map<string, Set<Text>>();

  constructor(texts: readonly Text[]) {
    for (const text of texts) this.add(text);
  }

  add(text: Text): void {
    this.#texts.push(text);
    const { content } = text;
    for (let at = 0; at + size <= content.length; at += size) {
      const window = content.slice(at, at + size);
      const known = this.#windows.get(window);
      if (known) known.add(text);
      else this.#windows.set(window, new Set([text]));
    }
  }

  count(text: Text): number {
    let count = 0;
    for (const whole of this.#candidates(text.content)) count += timesInside(text, whole);
    return count;
  }

  #candidates(content: string): Iterable<Text> {
    if (content.length < 2 * size) return this.#texts;
    const candidates = new Set<Text>();
    for (let at = 0; at < size; at++)
      for (const whole of this.#windows.get(content.slice(at, at + size)) ?? []) candidates.add(whole);
    return candidates;
  }
}

function timesInside({ content, answer }: Text, whole: Text): number {
  let times = 0;
  for (let at = whole.content.indexOf(content); at >= 0; at = whole.content.indexOf(content, at + content.length))
    times++;
  return times > 0 && (whole.answer ?? "").includes(answer ?? "") ? times : 0;
}
