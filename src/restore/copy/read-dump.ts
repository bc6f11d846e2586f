import { type ChildRow, type ChunkRow, childFromJson, chunkFromJson } from "../../compare/document-rows.js";
import { checkExactFiles } from "../../compare/load-document-rows.js";
import { type Connection, withSpill } from "../../duckdb/open-duckdb.js";
import { streamTexts } from "../../duckdb/read-rows.js";
import { loadRows } from "../../dump/load.js";
import type { Manifest } from "../../dump/manifest.js";
import { attachmentFiles, type Dump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/row.js";
import { canCome, childCanCome } from "./coming-rows.js";
import type { AttachmentPlan, FilePlan } from "./copy-plan.js";
import { type DumpDetails, datasetFrom, readDetails } from "./details.js";
import { type DocumentAttachments, formOf, type RowCounts } from "./plan-document.js";

/** Everything of a dump that a plan goes by; no texts of chunks. */
export interface DumpReading extends DumpDetails {
  /** By `documentKey`. */
  readonly counts: ReadonlyMap<string, RowCounts & DocumentAttachments>;
}

interface ReadingOptions {
  /** Whether the target is the service that the dump came from: it has the attachments already, under the same ids. */
  readonly isSameService: boolean;
  /** Whether the target takes files. */
  readonly canUpload: boolean;
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory: string;
  readonly signal: AbortSignal;
}

/** Reads the settings in a dump, and counts its rows. StopError when a file is not as its run wrote it. */
export async function readDump(dump: Dump, { memory, signal, ...source }: ReadingOptions): Promise<DumpReading> {
  const files = attachmentFiles(dump);
  return withSpill(":memory:", { memory, signal }, async (connection) => {
    const details = await readDetails(connection, dump, { signal });
    const counts = new Map(
      dump.manifest.documents.map((document) => [
        documentKey(document),
        new CountedRows(formIn(details, document), { ...source, files }),
      ]),
    );
    await countRows(connection, dump, counts, signal);
    return { ...details, counts };
  });
}

const columns = {
  chunks: ["dataset_id", "document_id", "id", "content", "answer", "enabled", "attachments", "summary"],
  child_chunks: ["dataset_id", "document_id", "segment_id", "content"],
} as const;

/** Counts one row after the other, chunks before child chunks. */
async function countRows(
  connection: Connection,
  dump: Dump,
  counts: ReadonlyMap<string, CountedRows>,
  signal: AbortSignal,
) {
  for (const [kind, file] of await checkExactFiles(dump, { signal })) {
    const names = columns[kind];
    const statement = (rows: string) => `SELECT ${names.join(", ")} FROM ${rows}`;
    await loadRows(connection, dump, file, { name: kind, statement, counted: dump.manifest.documents });
    const json = `to_json({${names.map((name) => `'${name}': "${name}"`).join(", ")}})::VARCHAR`;
    for await (const texts of streamTexts(connection, json, kind)) {
      signal.throwIfAborted();
      for (const text of texts) {
        const own = counts.get(documentKey(JSON.parse(text)));
        if (kind === "chunks") own?.addChunk(chunkFromJson(text));
        else own?.addChild(childFromJson(text));
      }
    }
  }
}

export function formIn({ datasets, documents }: DumpDetails, document: Manifest["documents"][number]): string {
  const dataset = datasets.get(document.dataset_id) ?? datasetFrom({ dataset_id: document.dataset_id });
  return formOf({ document, details: documents.get(documentKey(document)), dataset });
}

interface AttachmentSource extends Pick<ReadingOptions, "isSameService" | "canUpload"> {
  /** The files that the dump has, by the ids of the attachments. */
  readonly files: ReadonlyMap<string, FilePlan>;
}

/** The counts of a document while its rows are read. Whether a row comes, `canCome` and `childCanCome` say, as for its write. */
class CountedRows implements RowCounts, DocumentAttachments {
  chunks = 0;
  disabled = 0;
  summaries = 0;
  lost_chunks = 0;
  children = 0;
  lost_children = 0;
  orphans = 0;
  characters = 0;
  attached = 0;
  losing = 0;
  readonly reason: string;
  readonly #form: string;
  readonly #source: AttachmentSource;
  /** Ids of chunks that do not come. */
  readonly #lost = new Set<string>();
  readonly #plans = new Map<string, AttachmentPlan>();

  constructor(form: string, source: AttachmentSource) {
    this.#form = form;
    this.#source = source;
    this.reason = source.canUpload ? noFiles : noRoute;
  }

  get plans(): readonly AttachmentPlan[] {
    return [...this.#plans.values()];
  }

  addChunk(chunk: ChunkRow): void {
    const { id, content, answer, enabled, summary, attachment_ids } = chunk;
    if (!canCome(chunk, this.#form)) {
      this.lost_chunks++;
      this.#lost.add(id);
      return;
    }
    this.chunks++;
    if (!enabled) this.disabled++;
    if (summary !== null) this.summaries++;
    this.characters += lengthOf(content) + lengthOf(answer ?? "");
    const plans = attachment_ids.map((each) => planOf(each, this.#source)).filter((plan) => plan !== undefined);
    if (plans.length > 0) this.attached++;
    if (plans.length < attachment_ids.length) this.losing++;
    for (const plan of plans) this.#plans.set(plan.id, plan);
  }

  /** A child chunk comes only with its chunk. */
  addChild(child: ChildRow): void {
    if (this.#lost.has(child.segment_id)) this.orphans++;
    else if (!childCanCome(child)) this.lost_children++;
    else {
      this.children++;
      this.characters += lengthOf(child.content);
    }
  }
}

const noFiles = "The run does not have the files of attachments.";
const noRoute = "This release has no route that takes files for chunks (POST /datasets/pipeline/file-upload).";

function planOf(id: string, { isSameService, files, canUpload }: AttachmentSource): AttachmentPlan | undefined {
  if (isSameService) return { id, file: null };
  const file = canUpload ? files.get(id) : undefined;
  return file && { id, file };
}

/** Characters as code points. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
