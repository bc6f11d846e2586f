import { randomBytes } from "node:crypto";
import { startService } from "../demo/start-service.js";
import { openDump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";
import { emptyReadTally } from "../read-tally.js";
import { jsonText } from "../rows/exact-json.js";
import { DumpKnowledge } from "./dump-knowledge.js";
import { indexDump } from "./index-dump.js";
import { noticesOf } from "./notices.js";
import type { ServeOptions } from "./serve-options.js";

/** A dump that is served. */
export interface ServedDump {
  /** The base URL with its version segment: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly key: string;
  readonly job: string;
  readonly runId: string;
  readonly counts: Readonly<Record<"documents" | "chunks" | "child_chunks", number>>;
  /** The limits of the dump compared with the service, a sentence each. */
  readonly notices: readonly string[];
  /** Stops listening and closes the files. May be called again. */
  close(): Promise<void>;
}

/**
 * Answers the read operations of the service from a run folder, on loopback, and resolves once it does. Nothing is written.
 * Rejects with UsageError when the folder is no finished run, StopError when it is not as a run left it or the port cannot be had, or
 * the reason of `options.signal`.
 */
export async function serveDump(folder: string, options: ServeOptions = {}): Promise<ServedDump> {
  const {
    port = 0,
    key = `kbdump-${randomBytes(12).toString("hex")}`,
    tally = emptyReadTally("opening the dump"),
  } = options;
  const { signal = new AbortController().signal } = options;
  const found = await openDump(folder, "it cannot be served");
  await found.checkSizes(found.manifest.files);
  const dump = await indexDump(found, { signal, tally });
  try {
    const knowledge = new DumpKnowledge(dump);
    const service = await startService({ port, key, knowledge, signs: false, jsonText }).catch((error: Error) => {
      throw new StopError(error.message, { cause: error });
    });
    const { job, run_id: runId, counts } = dump.manifest;
    const close = async () => {
      await service.close();
      await dump.close();
    };
    return { url: service.url, key, job, runId, counts, notices: noticesOf(found), close };
  } catch (error) {
    await dump.close();
    throw error;
  }
}
