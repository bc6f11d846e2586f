import { isBlank, type Text } from "./hand.js";

/** Characters of a window. A text of twice as many has a whole window of any text that it stands inside. */
const size = 64;

export interface InsideOptions<T extends Text> {
  /** Texts of the older run that are no chunk of the target. */
  readonly lost: readonly T[];
  /** The texts of the target, as they will be after the edits are brought back. */
  readonly targets: readonly Text[];
  /** Texts of the older run that have a chunk of the target: what stands inside them there stood inside them before. */
  readonly paired: readonly Text[];
}

/**
 * Finds the lost texts that stand inside a chunk of the target: its content inside the content, its answer inside the answer. A text
 * counts as found only if the target has it more often than the older run without it. So a text that a person added is lost although an
 * unchanged chunk also has it, and a restore that continues an earlier one finds the same texts lost. Blank contents stand nowhere.
 */
export function findInside<T extends Text>({ lost, targets, paired }: InsideOptions<T>): ReadonlySet<T> {
  const [now, before] = [new TextIndex(targets), new TextIndex(paired)];
  const found = new Set<T>();
  for (const text of lost.toSorted((one, other) => other.content.length - one.content.length)) {
    if (isBlank(text.content)) continue;
    const times = now.count(text);
    if (times === 0 || times <= before.count(text)) continue;
    found.add(text);
    before.add(text);
  }
  return found;
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
