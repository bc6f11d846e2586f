import type { CopyOptions } from "../../../src/restore/copy/copy-result.js";
import { emptyWriteProgress } from "../../../src/restore/result.js";

/** Options to copy the run in a folder: writes without asking and waits only briefly. */
export function copying(
  folder: string,
  { url, key }: { readonly url: string; readonly key: string },
  more: Partial<CopyOptions> = {},
): CopyOptions {
  return {
    ...{ folder, baseUrl: url, dataset: undefined, documents: [], apply: true },
    ...{ keyEnv: "KNOWLEDGE_RESTORE_KEY", key, allowHttp: false, concurrency: undefined, maxRps: undefined },
    ...{
      timeout: 10_000,
      settle: 100,
      lockTime: 100,
      memory: "800MB",
      caFile: undefined,
      env: {},
      now: () => new Date(),
    },
    ...{ signal: new AbortController().signal, log: () => {}, progress: emptyWriteProgress() },
    confirm: async () => ({ go: true }),
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, Math.min(milliseconds, 50))),
    ...more,
  };
}
