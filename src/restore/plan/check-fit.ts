import type { Dump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";

/** UsageError when a dump as a whole leaves out rows that a restore must see, or has them in no exact form. */
export function checkFit(dump: Dump): void {
  const { options } = dump.manifest;
  const { csv_safe, formats } = options.output;
  const filtered = filteredDatasets(options.datasets);
  const reasons = [
    filtered.length > 0 &&
      `its run left out chunks: the job has a filter (status, keyword) for dataset ${filtered.join(", ")}`,
    options.child_chunks === "none" && "its run read no child chunks (child_chunks: none)",
    !dump.filesOf(["chunks", "child_chunks"]) &&
      (csv_safe && formats.includes("csv")
        ? "its texts are not exact: csv_safe changes them; a restore needs jsonl, parquet, or csv without csv_safe"
        : `its run wrote ${formats.join(", ") || "no files"}; a restore needs jsonl, parquet, or csv without csv_safe`),
  ].filter((reason) => typeof reason === "string");
  if (reasons.length === 0) return;
  const problems = reasons.map((message) => ({ path: "", message }));
  throw new UsageError(`${dump.folder} cannot be used for a restore:`, problems);
}

/** The datasets of which a job reads a part; a manifest may be of any version. */
function filteredDatasets(datasets: unknown): readonly string[] {
  return (Array.isArray(datasets) ? datasets : [datasets]).flatMap((dataset: unknown) => {
    if (typeof dataset !== "object" || dataset === null) return [];
    const { id, status, keyword }: { id?: unknown; status?: unknown; keyword?: unknown } = dataset;
    const isFiltered = keyword != null || (Array.isArray(status) && status.length > 0);
    return isFiltered ? [String(id)] : [];
  });
}
