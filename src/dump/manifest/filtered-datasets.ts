import type { Manifest } from "./manifest.js";

/** The ids of the datasets of which the job of a run reads only the chunks that a filter lets through; a manifest may be of any version. */
export function filteredDatasets({ datasets }: Manifest["options"]): readonly string[] {
  return (Array.isArray(datasets) ? datasets : [datasets]).flatMap((dataset: unknown) => {
    if (typeof dataset !== "object" || dataset === null) return [];
    const { id, status, keyword }: { id?: unknown; status?: unknown; keyword?: unknown } = dataset;
    return keyword || (Array.isArray(status) && status.length > 0) ? [String(id)] : [];
  });
}
