import { randomUUID } from "node:crypto";
import { tool } from "../../tool.js";
import { countOf } from "../../words.js";
import { type Discovery, documentsOf } from "../discover/discovery.js";
import { documentListFrom, documentListText } from "../discover/document-list.js";
import { namesOfBegun } from "../parts/shared-journal.js";
import { noteHandedOut } from "../work/handed-out.js";
import { planHash } from "../work/plan-hash.js";
import { runBefore } from "../work/run-before.js";
import { type ExchangePlan, listFile, listHash, planFile, readPlan } from "./exchange-files.js";
import type { HandOutOptions } from "./hand-out-options.js";
import { OpenDocuments } from "./open-documents.js";
import { orderBySize } from "./order-by-size.js";
import { Supervision } from "./supervision.js";
import { WorkersProgress } from "./workers-progress.js";

/**
 * Lets workers read the documents of a run, and takes over what they read whole, as if this process had read it and been killed. Resolves
 * when nothing is left for them: documents that no worker could read whole are left to the caller, and all that are left where no worker
 * gives a sign of life for `service.outage`, or 10 s if that is less. An interrupted run leaves the exchange to the next one, which takes over what is there.
 */
export async function handOut(discovery: Discovery, options: HandOutOptions): Promise<void> {
  const { job, workspace, tally, log, exchange, list } = options;
  const placed = documentsOf(discovery);
  const begun = await namesOfBegun(workspace.parts); // an earlier process read these, or began to
  const left = placed.filter(({ name }) => !begun.has(name));
  const ordered = orderBySize(left, discovery, await runBefore(workspace, job.name));
  tally.documents = placed.length;
  tally.documentsDone = placed.length - left.length;
  tally.documentsFound = tally.documentsDone;
  const progress = new WorkersProgress(tally);
  if (ordered.length > 0) {
    const { runId } = workspace;
    const documents = documentListText(documentListFrom(discovery));
    const plan: ExchangePlan = {
      run_id: runId,
      queue_id: (await readPlan(exchange))?.queue_id ?? `${runId}-${randomUUID().slice(0, 8)}`,
      plan: planHash(job, list),
      version: tool.version,
      list: list ?? null,
      list_sha256: listHash(documents),
    };
    const announce = async () => {
      await exchange.write(listFile, documents);
      await exchange.write(planFile, JSON.stringify(plan));
    };
    await announce();
    await noteHandedOut(workspace.work);
    log("info", `handing out ${countOf(ordered.length, "document")} to workers`);
    const supervision = new Supervision(new OpenDocuments(ordered), progress, plan, { ...options, announce });
    try {
      await supervision.carryOut();
    } finally {
      await supervision.close();
    }
  }
  progress.takeBack();
  await exchange.remove();
}
