import type { KnowledgeApi } from "../client/knowledge-api.js";
import { RetryError, SkipError, StopError } from "../errors.js";

/** Whether the key may list the datasets of its account. */
export interface DatasetListAnswer {
  readonly finding: "allowed" | "refused" | "absent" | "unknown";
  readonly detail: string;
}

/**
 * Asks for one dataset of the account. A key that is bound to a dataset is refused; some services answer 401 then, which
 * ends the client, so that this has to be the last question.
 */
export async function askDatasetList(api: Pick<KnowledgeApi, "datasets">): Promise<DatasetListAnswer> {
  try {
    const { total } = await api.datasets(1, 1);
    return { finding: "allowed", detail: `it lists ${total} ${total === 1 ? "dataset" : "datasets"}` };
  } catch (error) {
    if (!(error instanceof SkipError) && !(error instanceof StopError && error.status === 401)) throw error;
    const { status, message } = error;
    const findings = { 401: "refused", 403: "refused", 404: "absent" } as const;
    const finding = error.cause instanceof RetryError ? undefined : findings[status as keyof typeof findings];
    return { finding: finding ?? "unknown", detail: message };
  }
}
