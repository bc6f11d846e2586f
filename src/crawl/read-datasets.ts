import type { KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import type { LookAhead } from "./look-ahead.js";
import { readWholeList, type WholeList } from "./read-whole-list.js";

/** All datasets that the key can see. `limited`: the service did not take include_all, so that some may be missing. */
export type DatasetList = WholeList & { readonly limited: boolean };

/** Reads the list of datasets. A service that refuses the parameter `include_all` is asked without it. Rejects as readWholeList does. */
export async function readDatasets(api: Pick<KnowledgeApi, "datasets">, lookAhead: LookAhead): Promise<DatasetList> {
  const read = (includeAll: boolean) =>
    readWholeList("datasets", (page, limit) => api.datasets(page, limit, includeAll), lookAhead);
  try {
    return { ...(await read(true)), limited: false };
  } catch (error) {
    if (!(error instanceof SkipError && (error.status === 400 || error.status === 422))) throw error;
    return { ...(await read(false)), limited: true };
  }
}
