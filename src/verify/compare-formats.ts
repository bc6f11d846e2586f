import type { Manifest } from "../dump/manifest/manifest.js";
import type { Kind } from "../rows/columns.js";
import { checkUnique } from "./check-ids.js";
import { compareRows } from "./compare-rows.js";
import type { Findings } from "./findings.js";
import { isGuarded, type LoadedFile } from "./load-files.js";
import { manifestRows } from "./readers/table-rows.js";
import type { RowStore } from "./row-store.js";

/** Every file has the rows of the first of its kind, cell by cell and in the same order; the documents are the manifest's. */
export async function compareFormats(
  store: RowStore,
  manifest: Manifest,
  files: readonly LoadedFile[],
  firsts: ReadonlyMap<Kind, LoadedFile>,
  findings: Findings,
): Promise<void> {
  for (const file of files) {
    const first = firsts.get(file.source.kind);
    if (!first || first === file) continue;
    const unguarded = isGuarded(first, manifest) || isGuarded(file, manifest);
    await compareRows(store, first, file, findings, { unguarded, ordered: true, exactly: true });
  }
  const documents = await store.load(manifestRows(manifest), findings);
  if (!documents) return;
  await checkUnique(store, documents, findings);
  const file = firsts.get("documents");
  if (file)
    await compareRows(store, documents, file, findings, {
      unguarded: isGuarded(file, manifest),
      ordered: true,
      exactly: true,
    });
}
