import { randomBytes } from "node:crypto";
import { startService } from "../demo/start-service.js";
import { filteredDatasets } from "../dump/manifest.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import { jsonText } from "../rows/exact-json.js";
import { DumpKnowledge } from "./dump-knowledge.js";
import { DumpDatabase } from "./query-dump.js";

export interface ServeOptions {
  /** The port on 127.0.0.1; default: 0, a free port. */
  readonly port?: number;
  /** The key that requests must carry; default: a random one. */
  readonly key?: string;
  /** Aborting it ends the loading, which rejects with the reason. Use `close` to stop a running service. */
  readonly signal?: AbortSignal;
  readonly progress?: ReadProgress;
}

/** A running service for a dump. */
export interface ServedDump {
  /** The base URL including the version: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly key: string;
  readonly job: string;
  readonly runId: string;
  readonly counts: Readonly<Record<"documents" | "chunks" | "child_chunks", number>>;
  /** How the dump differs from the service, one sentence each. */
  readonly notices: readonly string[];
  /** Stops listening and closes the files. May be called repeatedly. */
  close(): Promise<void>;
}

/**
 * Serves the read operations from a run folder on loopback. Resolves once it answers. Writes nothing. Throws UsageError if the
 * folder is not a finished run, StopError if it differs from its manifest or the port is unavailable, or the reason of
 * `options.signal`.
 */
export async function serveDump(folder: string, options: ServeOptions = {}): Promise<ServedDump> {
  const {
    port = 0,
    key = `kbdump-${randomBytes(12).toString("hex")}`,
    progress = emptyReadProgress("opening the dump"),
  } = options;
  const { signal = new AbortController().signal } = options;
  const found = await openDump(folder, "it cannot be served");
  const { manifest } = found;
  await found.checkSizes(manifest.files);
  const rows = await DumpDatabase.load(found, { signal, progress });
  try {
    const demo = { reads: new DumpKnowledge(manifest, rows), routes: [] };
    const service = await startService({ port, key, demo, jsonText });
    const { job, run_id: runId, counts } = manifest;
    const close = async () => {
      await service.close();
      await rows.close();
    };
    return { url: service.url, key, job, runId, counts, notices: noticesOf(found), close };
  } catch (error) {
    await rows.close();
    throw error;
  }
}

/** How the dump differs from the service, one sentence each. */
function noticesOf(dump: Dump): readonly string[] {
  const { manifest } = dump;
  const { options, documents } = manifest;
  const [chunks] = dump.tablesOf(["chunks"]) ?? [];
  const failed = documents.filter(({ status }) => status === "failed").length;
  const unstable = documents.filter(({ status }) => status === "unstable").length;
  const notices = [
    failed > 0 && `documents that could not be read when the dump was made, and are not found: ${failed}`,
    unstable > 0 && `documents that changed while the dump was made, and may lack rows: ${unstable}`,
    options.child_chunks === "none" && "the dump was made with child_chunks: none: it has no child lists",
    filteredDatasets(options).length > 0 && "the dump was made with a filter: it has only the chunks that matched",
    chunks !== undefined &&
      chunks.format !== "jsonl" &&
      `${chunks.path} does not distinguish texts from other JSON in error and summary: they are returned as texts`,
  ];
  return notices.filter((notice) => notice !== false);
}
