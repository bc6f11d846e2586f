import { plainText } from "../client/plain-text.js";
import { isTooLongForFolder } from "../dump/formats/file-name.js";
import { StopError } from "../errors.js";
import type { Discovery } from "./discover/discovery.js";

/** Rejects, before anything is read, datasets after which `output.partition` cannot name a folder. Throws StopError. */
export function requireFolderNames({ datasets }: Pick<Discovery, "datasets">): void {
  const tooLong = datasets.filter(({ id, documents }) => documents.length > 0 && isTooLongForFolder(id));
  const [first] = tooLong;
  if (!first) return;
  const ids = tooLong.length === 1 ? "a dataset has an id" : `${tooLong.length} datasets have ids`;
  throw new StopError(
    `output.partition names a folder after each dataset, and ${ids} too long for that: ${plainText(first.id, "", 100)}. ` +
      "Leave output.partition out, or name the datasets to read",
  );
}
