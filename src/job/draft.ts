import type { Problem } from "../errors.js";
import { type Finding, isWithin, type Path } from "./finding.js";
import { pathText } from "./path-text.js";

/** A name for a place that did not come from the file's text: the flag that sets it; null where nothing does. */
export interface Label {
  readonly path: Path;
  readonly text: string | null;
}

/** The name that users know a setting by: its flag, or its place in the job file; null where they cannot set it. */
export function settingName(labels: readonly Label[], path: Path): string | null {
  const label = labels.find((candidate) => isWithin(path, candidate.path));
  return label ? label.text : pathText(path);
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
