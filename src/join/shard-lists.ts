import { createHash } from "node:crypto";
import { join } from "node:path";
import { readRegular } from "../dump/files/regular-file.js";
import { listName } from "../dump/manifest/shard.js";
import { documentKey } from "../rows/document-row.js";
import { type DocumentList, documentListFromText } from "../run/discover/document-list.js";
import { shardOf } from "../run/discover/shard-of.js";
import { shardText } from "../words.js";
import type { SharedList } from "./merge-lists.js";
import type { ShardDump } from "./shard-dump.js";

/** The lists of the shards: those that are the same are read once. */
export class ShardLists {
  readonly #known = new Map<string, KnownList>();

  get shared(): readonly SharedList[] {
    return [...this.#known.values()];
  }

  /** Proves that the documents of a shard are those of its list that fall to it; gives the list. Rejects with UnsoundError where they are not. */
  async check(shard: ShardDump): Promise<DocumentList> {
    const { dump } = shard;
    const { list, documents: expected } = await this.#read(shard);
    const keys = dump.manifest.documents.map(documentKey);
    const wrong = keys.findIndex((key, at) => key !== expected[at]);
    const isSame = wrong < 0 && keys.length === expected.length && new Set(keys).size === keys.length;
    if (isSame) return list;
    const [, id] = JSON.parse(expected[wrong < 0 ? keys.length : wrong] ?? keys[wrong] ?? "[]");
    throw dump.unsound(
      `its documents are not those of ${listName} that fall to ${shardText(shard.shard)}, each once${id === undefined ? "" : `; the first that differs is ${id}`}`,
    );
  }

  /** The list of a shard, and its documents that fall to the shard. Rejects with UnsoundError where the file is not that of the manifest. */
  async #read({
    dump,
    shard,
  }: ShardDump): Promise<Pick<KnownList, "list"> & { readonly documents: readonly string[] }> {
    const { index, count, list } = shard;
    await dump.checkSizes([{ path: listName, bytes: list.bytes }]);
    const bytes = await readRegular(join(dump.folder, listName));
    if (createHash("sha256").update(bytes).digest("hex") !== list.sha256)
      throw dump.unsound(`${listName}: has another SHA-256 than the manifest says`);
    const known = this.#known.get(list.sha256) ?? knownList(bytes.toString("utf8"), count);
    if ("problems" in known) throw dump.unsound(`${listName}: ${known.problems}`);
    known.shards.push(index);
    this.#known.set(list.sha256, known);
    const documents = known.documents.get(index) ?? [];
    known.documents.delete(index); // keys of a million documents take much memory
    return { list: known.list, documents };
  }
}

interface KnownList extends SharedList {
  readonly shards: number[];
  /** The keys of the documents of each shard. */
  readonly documents: Map<number, readonly string[]>;
}

function knownList(text: string, count: number): KnownList | { readonly problems: string } {
  const { value, problems } = { value: undefined, ...documentListFromText(text) };
  if (!value)
    return {
      problems: problems?.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ") ?? "",
    };
  return { list: value, shards: [], documents: documentsByShard(value, count) };
}

function documentsByShard({ datasets }: DocumentList, count: number): Map<number, readonly string[]> {
  const documents = new Map<number, string[]>();
  for (const { dataset_id, documents: ids } of datasets)
    for (const document_id of ids) {
      const index = shardOf(dataset_id, document_id, count);
      const own = documents.get(index) ?? [];
      own.push(documentKey({ dataset_id, document_id }));
      documents.set(index, own);
    }
  return documents;
}
