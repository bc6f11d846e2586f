import type { Problem } from "../errors.js";
import type { Finding, Path } from "./finding.js";

/** A name for a place that did not come from the file's text: the flag that set it. */
export interface Label {
  readonly path: Path;
  readonly text: string;
}

/** A job before it is checked, from whatever source. */
export interface Draft {
  /** The name of the source in an error: `the job file "nightly.yaml"`. */
  readonly what: string;
  readonly document: unknown;
  /** The document before its variables were filled in: what messages may show. */
  readonly written: unknown;
  readonly labels: readonly Label[];
  readonly unset: readonly Finding[];
  /** Errors known before the check: flags that cannot be used with this source. */
  readonly problems: readonly Problem[];
}
