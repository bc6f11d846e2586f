import { type CopyOptions, emptyCopyProgress } from "../../../src/restore/copy/copy-result.js";

/** The options of a copy of the run in a folder, that writes without a question and waits little. */
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
    ...{ signal: new AbortController().signal, log: () => {}, progress: emptyCopyProgress() },
    confirm: async () => ({ go: true }),
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, Math.min(milliseconds, 50))),
    ...more,
  };
}
