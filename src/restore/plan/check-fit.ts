import { filteredDatasets } from "../../dump/manifest/filtered-datasets.js";
import type { Dump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import { inexactReason } from "../inexact-reason.js";

/** UsageError when a dump as a whole leaves out rows that a restore must see, or has them in no exact form. */
export function checkFit(dump: Dump): void {
  const { options } = dump.manifest;
  const filtered = filteredDatasets(options);
  const reasons = [
    filtered.length > 0 &&
      `its run left out chunks: the job has a filter (status, keyword) for dataset ${filtered.join(", ")}`,
    options.child_chunks === "none" && "its run read no child chunks (child_chunks: none)",
    !dump.tablesOf(["chunks", "child_chunks"]) && inexactReason(dump),
  ].filter((reason) => typeof reason === "string");
  if (reasons.length === 0) return;
  const problems = reasons.map((message) => ({ path: "", message }));
  throw new UsageError(`${dump.folder} cannot be used for a restore:`, problems);
}
