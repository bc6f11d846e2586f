import type { Kind } from "../../rows/columns.js";
import type { FileFormat } from "../formats/formats.js";
import { type FileParts, partsOfName } from "../formats/name-parts.js";
import type { ManifestFile } from "./manifest.js";

/** The kind, format, dataset and compression of a file; its name was checked. */
export function partsOf({ path }: Pick<ManifestFile, "path">): FileParts {
  const parts = partsOfName(path);
  if (!parts) throw new Error(`${path} is no file of a dump`);
  return parts;
}

/** The rows of a kind in one format: a file, or a file for each dataset. */
export interface DumpTable {
  readonly kind: Kind;
  readonly format: FileFormat;
  /** As messages name it: `chunks.jsonl`, also where it is a folder. */
  readonly path: string;
  readonly files: readonly ManifestFile[];
  readonly rows: number;
  readonly bytes: number;
}

/** The tables of a dump, in the order of its files. */
export function tablesOf(files: readonly ManifestFile[]): readonly DumpTable[] {
  const groups = new Map<string, ManifestFile[]>();
  for (const file of files) {
    const { kind, format } = partsOf(file);
    const name = `${kind}.${format}`;
    const group = groups.get(name) ?? [];
    group.push(file);
    groups.set(name, group);
  }
  return [...groups].flatMap(([name, group]) => {
    const [first] = group;
    if (!first) return [];
    const { kind, format, dataset } = partsOf(first);
    const sum = (column: "rows" | "bytes") => group.reduce((all, file) => all + file[column], 0);
    const path = dataset === undefined ? first.path : name;
    return [{ kind, format, path, files: group, rows: sum("rows"), bytes: sum("bytes") }];
  });
}
