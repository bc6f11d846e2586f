/** The answer to a request, or a failure without an answer. */
export interface Reply {
  /** The moment of the answer: a count of answers and edits. */
  readonly moment: number;
  /** Which fault the answer has, as text for the trace. */
  readonly outcome: string;
  /** Whether the client may use the answer: it is a valid page, even if it is the wrong one. */
  readonly isUsable: boolean;
  readonly wire: Wire;
}

/** The bytes on the wire, or a failure without bytes. */
export type Wire = { readonly kind: "reset" } | { readonly kind: "hang" } | WireAnswer;

export interface WireAnswer {
  readonly kind: "answer";
  /** How many milliseconds the answer is late because of a fault. */
  readonly slow: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}
