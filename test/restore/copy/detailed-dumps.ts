import { join } from "node:path";
import type { RunningService } from "../../../src/demo/start-service.js";
import { type Dump, openDump } from "../../../src/dump/open-dump.js";
import type { Row } from "../../../src/rows/row.js";
import { runJob } from "../../../src/run/run-job.js";
import { tablesOf } from "../../compare/lost/lost-dumps.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import * as sound from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";

/** Dumps a whole service, with details. */
export async function dumpWithDetails(
  { url, key }: Pick<RunningService, "url" | "key">,
  more: Record<string, unknown> = {},
): Promise<Dump> {
  const job = await jobFor(await testFolder(), {
    service: { base_url: url, retries: 0 },
    datasets: "all",
    output: { formats: ["jsonl"] },
    details: true,
    ...more,
  });
  const { folder } = await runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
  return openDump(folder, "nothing was planned");
}

/** A dump of dataset `d` from these rows, with details of every document. `ill` overrides document rows. */
export async function detailedDump(
  chunks: readonly Row[],
  children: readonly Row[] = [],
  { ill = {}, ...options }: WriteOptions & { readonly ill?: Readonly<Record<string, Row>> } = {},
): Promise<Dump> {
  const tables = tablesOf(chunks, children, ill);
  const documents = tables.documents.map(({ document_id }) => sound.details(String(document_id)));
  const all = { ...tables, datasets: [sound.settings("d")], document_details: documents };
  return openDump(await writeDump(join(await plainFolder(), "run"), all, options), "nothing was planned");
}
