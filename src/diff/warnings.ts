import type { Manifest } from "../dump/manifest/manifest.js";
import { documentKey } from "../rows/document-row.js";
import { countOf } from "../words.js";
import type { ReadRun } from "./read-run.js";

/** Sentences on what may make a comparison say less than it seems to. */
export function warningsOf(old: ReadRun, fresh: ReadRun): readonly string[] {
  const [before, after] = [old.dump.manifest, fresh.dump.manifest];
  return [
    old.dump.folder === fresh.dump.folder && "OLD and NEW are the same run folder",
    before.run_id > after.run_id && `OLD is the newer run: ${before.run_id} comes after ${after.run_id}`,
    before.job !== after.job && `these are runs of different jobs: ${before.job} and ${after.job}`,
    before.service.base_url !== after.service.base_url &&
      `these are dumps of different services: ${before.service.base_url} and ${after.service.base_url}`,
    readsChildren(before) !== readsChildren(after) &&
      `only the ${readsChildren(before) ? "old" : "new"} run read child chunks: they were not compared`,
    skippedText("old", before, after, "added"),
    skippedText("new", after, before, "removed"),
    filtersOf(before) !== filtersOf(after) &&
      "the runs used different filters (status, keyword): chunks that only one of them matched appear as added or removed",
    isGuarded(old) !== isGuarded(fresh) &&
      "one of the runs was read from a CSV with csv_safe: apostrophes before formulas were ignored",
  ].filter((warning) => typeof warning === "string");
}

/** Documents whose child lists `auto` took to be empty in one run, although lists held child chunks in the other. */
function skippedText(
  run: "old" | "new",
  { child_lists: here }: Manifest,
  { child_lists: there }: Manifest,
  looks: string,
): string | undefined {
  const skipped = new Set(here.filter((lists) => lists.skipped > 0).map(documentKey));
  const count = there.filter((lists) => lists.asked > lists.empty && skipped.has(documentKey(lists))).length;
  if (count === 0) return undefined;
  const other = run === "old" ? "new" : "old";
  return `the ${run} run skipped child lists (child_chunks: auto) of ${countOf(count, "document")} in which the ${other} run found child chunks: these appear as ${looks}`;
}

/** Whether a run read child chunks at all; what its manifest does not say, it did. */
export function readsChildren({ options }: Manifest): boolean {
  return options.child_chunks !== "none";
}

/** Whether apostrophes may stand before texts in what is read of a run. */
export function isGuarded({ format, dump }: ReadRun): boolean {
  return format === "csv" && dump.manifest.options.output.csv_safe;
}

/** The filters of every dataset that has some, as far as the manifest says. */
function filtersOf({ options }: Manifest): string {
  const datasets: readonly unknown[] = Array.isArray(options.datasets) ? options.datasets : [options.datasets];
  const filters = datasets.map((dataset) => {
    if (typeof dataset !== "object" || dataset === null) return "";
    const { id, status, keyword }: { id?: unknown; status?: unknown; keyword?: unknown } = dataset;
    const isFiltered = keyword != null || (Array.isArray(status) && status.length > 0);
    return isFiltered ? JSON.stringify([id, status, keyword]) : "";
  });
  return filters.sort().join("");
}
