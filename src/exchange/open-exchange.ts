import type { Job } from "../job/job.js";
import { foldersOf } from "../run/work/job-folders.js";
import type { Workspace } from "../run/work/workspace.js";
import { openFolderExchange, ownFolderExchange } from "./folder-exchange.js";
export async function openExchanges(job: Job, _o: unknown) {
  return { of: (runId: string) => openFolderExchange(foldersOf(job), runId), close: async () => {} };
}
export async function ownExchange(w: Workspace, _job: Job) {
  return ownFolderExchange(w, w.runId);
}
