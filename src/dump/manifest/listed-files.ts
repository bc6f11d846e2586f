import type { Manifest } from "./manifest.js";
import { listName } from "./shard.js";

/** A file that a manifest lists. */
export interface ListedFile {
  /** Relative to the run folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Every file of a run beside its manifest: those of the rows, the list of a shard, and the originals. */
export function listedFiles({ files, shard, originals = [] }: Manifest): readonly ListedFile[] {
  const rows = files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }));
  const list = shard ? [{ path: listName, bytes: shard.list.bytes, sha256: shard.list.sha256 }] : [];
  const saved = originals.flatMap(({ path, bytes, sha256 }) =>
    path === null || sha256 === null ? [] : [{ path, bytes, sha256 }],
  );
  return [...rows, ...list, ...saved];
}
