import { type Manifest, partsOf } from "../dump/manifest.js";
import { countOf } from "../words.js";
import type { DatabaseShare } from "./check-database.js";
import { hasReader } from "./readers/table-rows.js";
import type { LoadedFile } from "./row-store.js";

/** Sentences on what could not be checked, and why. */
export function notesOf(
  { options, files: listed, originals = [] }: Manifest,
  files: readonly LoadedFile[],
  database: DatabaseShare | undefined,
): readonly string[] {
  const formats = new Set(files.map(({ format }) => format));
  const unread = new Set(listed.map((file) => partsOf(file).format).filter((format) => !hasReader(format)));
  const notes = [...unread].map(
    (format) => `verify cannot read ${format}: the hashes of its files were checked, their rows were not`,
  );
  if (formats.size === 0 && database) {
    notes.push("this folder has no data files: ids, parents and counts were checked in the database");
  } else if (formats.size === 0) {
    notes.push(
      "this folder has no data files: only manifest.json was checked; --duckdb checks the rows in the database",
    );
  } else if (formats.size === 1 && !database) {
    notes.push(
      `${[...formats].join()} is the only format in this folder, so contents were not compared between formats`,
    );
  }
  if (formats.has("csv") && formats.size > 1 && options.output.csv_safe) {
    notes.push("the CSV was written with csv_safe: apostrophes before formulas were ignored in comparisons");
  }
  for (const [noun, saved] of [
    ["original", originals.filter(({ attachment_id: id }) => id === null)],
    ["attachment", originals.filter(({ attachment_id: id }) => id !== null)],
  ] as const) {
    const incomplete = saved.filter(({ verdict }) => verdict !== "complete").length;
    if (incomplete === 0) continue;
    notes.push(
      `${incomplete} of ${countOf(saved.length, noun)} ${incomplete === 1 ? "was" : "were"} not complete when the run saved them: originals in manifest.json says why`,
    );
  }
  const later = database?.later ?? 0;
  if (later > 0)
    notes.push(
      `${countOf(later, "document")} of the database come from a later run: their newer rows were not compared`,
    );
  const passedOver = database?.passedOver ?? 0;
  if (passedOver > 0)
    notes.push(
      `${countOf(passedOver, "document")} unstable in this run: the database keeps the earlier complete state, which was not compared`,
    );
  return notes;
}
