import type { ApplyOptions } from "./apply-options.js";
import { readEqualTexts } from "./find-write.js";
import type { Place } from "./read-standing.js";
import type { Waiting } from "./take-turns.js";

/** The document that is written, and what is known of it. */
export class DocumentWork {
  readonly options: Required<ApplyOptions>;
  readonly place: Place;
  readonly docForm: string | null;
  /** Why the service takes no writes to this document; null as long as it does. */
  refused: string | null = null;
  /** Why no more chunks are added: the service may still carry out an add whose answer never came. Null if every add was answered. */
  unanswered: string | null = null;
  #equalTexts: Promise<Map<string, string[]>> | undefined;
  readonly #ours = new Set<string>();

  constructor(options: Required<ApplyOptions>, place: Place, docForm: string | null) {
    this.options = options;
    this.place = place;
    this.docForm = docForm;
  }

  /** Ids of the chunks with this hash of their texts. The document is read once for it. */
  async equalTo(hash: string): Promise<readonly string[]> {
    this.#equalTexts ??= readEqualTexts(this.options.api, this.place);
    try {
      return (await this.#equalTexts).get(hash) ?? [];
    } catch (error) {
      this.#equalTexts = undefined; // it may be readable the next time
      throw error;
    }
  }

  /** Whether a row of this restore already uses this chunk. */
  isOurs(id: string): boolean {
    return this.#ours.has(id);
  }

  /** Remembers a chunk that a write made or changed, or that was there already: no other row counts it. */
  async remember(hash: string, id: string): Promise<void> {
    this.#ours.add(id);
    const known = await this.#equalTexts;
    known?.set(hash, [...new Set([...(known.get(hash) ?? []), id])]);
  }
}

/** The outcome of a row. `there`: nothing needed to be sent. `busy`: the service refused changes of it until time was up. */
export type Landed =
  | { readonly kind: "done"; readonly id: string; readonly isIndexed: boolean; readonly error: string }
  | { readonly kind: "there"; readonly id: string }
  | { readonly kind: "changed" | "failed" | "busy"; readonly id: string | null; readonly reason: string };

export type Landing = Waiting<Landed>;
