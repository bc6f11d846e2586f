import type { Original } from "../dump/manifest/original.js";
import { countOf } from "../words.js";

/** A file that was received. */
export interface Received {
  readonly bytes: number;
  readonly sha256: string;
  /** The bytes that the answer announced; null where it did not. */
  readonly announced: number | null;
  /** Why it broke off; null where it came to its end. */
  readonly brokeOff: string | null;
}

export type Judged = Pick<Original, "verdict" | "reason" | "expected_bytes">;

/**
 * Complete is a file of as many bytes as the service says of it; where it says nothing, as the answer announces; and where
 * neither says anything, one that came to its end.
 */
export function judgeOriginal({ bytes, announced, brokeOff }: Received, size: number | null): Judged {
  const expected_bytes = size ?? announced;
  const because = brokeOff === null ? "" : `: ${brokeOff}`;
  if (bytes === expected_bytes || (expected_bytes === null && brokeOff === null && bytes > 0))
    return { verdict: "complete", reason: null, expected_bytes };
  const said = expected_bytes === null ? "" : `, the service says ${expected_bytes}`;
  return {
    verdict: bytes === 0 ? "missing" : "wrong size",
    reason: `it has ${countOf(bytes, "byte")}${said}${because}`,
    expected_bytes,
  };
}
