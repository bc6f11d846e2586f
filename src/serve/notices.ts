import type { Dump } from "../dump/open-dump.js";
import { isFiltered } from "./listed-rows.js";

/** Tells the readers of a served dump its limits compared with the service, a sentence each. */
export function noticesOf(dump: Dump): readonly string[] {
  const { manifest } = dump;
  const { options, documents } = manifest;
  const [chunks] = dump.tablesOf(["chunks"]) ?? [];
  const failed = documents.filter(({ status }) => status === "failed").length;
  const unstable = documents.filter(({ status }) => status === "unstable").length;
  const notices = [
    failed > 0 && `documents that could not be read when the dump was made, and are not found: ${failed}`,
    unstable > 0 && `documents that moved while the dump was made, and may lack rows: ${unstable}`,
    options.child_chunks === "none" && "the dump was made with child_chunks: none: it has no child lists",
    isFiltered(manifest) && "the dump was made with a filter: it has only the chunks that matched",
    chunks !== undefined &&
      chunks.format !== "jsonl" &&
      `${chunks.path} does not tell a text from other JSON in error and summary: they are answered as texts`,
  ];
  return notices.filter((notice) => notice !== false);
}
