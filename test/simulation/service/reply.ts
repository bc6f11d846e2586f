/** The answer to a request, or its lack. */
export interface Reply {
  /** The moment of the answer: answers and edits are counted. */
  readonly moment: number;
  /** The fault, for the trace. */
  readonly outcome: string;
  /** A page with rows or without, though perhaps another than was asked for. */
  readonly isUsable: boolean;
  readonly wire: Wire;
}

/** The bytes on the wire, or their lack. */
export type Wire = { readonly kind: "reset" } | { readonly kind: "hang" } | WireAnswer;

export interface WireAnswer {
  readonly kind: "answer";
  /** Milliseconds that it takes beyond what is usual. */
  readonly slow: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}
