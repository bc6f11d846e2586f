import type { RestoreOptions } from "../../src/restore/lost/restore-options.js";
import { emptyWriteProgress } from "../../src/restore/result.js";

/** Options to restore the run in a folder: writes without asking and waits only briefly. */
export function restoring(folder: string, key: string, more: Partial<RestoreOptions> = {}): RestoreOptions {
  return {
    ...{ folder, against: undefined, documents: [], apply: true },
    ...{ addManualEdits: false, plan: undefined, planOut: undefined, to: undefined, own: undefined },
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
