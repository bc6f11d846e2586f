import type { Dump } from "../dump/open-dump.js";

/** Why no file of a dump has the texts as the service sent them, and what a restore needs. */
export function inexactReason({ manifest }: Dump): string {
  const { csv_safe, formats } = manifest.options.output;
  const needs = "a restore needs jsonl, parquet, or csv without csv_safe";
  if (csv_safe && formats.includes("csv")) return `its texts are not exact: csv_safe changes them; ${needs}`;
  return `its run wrote ${formats.join(", ") || "no files"}; ${needs}`;
}
