import type { Original } from "../../dump/manifest/original.js";

type File = Pick<Original, "sha256" | "verdict" | "reason">;

/** Compares the file that a document was made from with the one that the service has for its copy; gives sentences. */
export function compareOriginals(old: File | undefined, live: File | undefined): readonly string[] {
  if (old?.verdict !== "complete") return [];
  if (live?.verdict !== "complete")
    return [`its file is not complete at the service: ${live?.reason ?? "it has none"}`];
  return old.sha256 === live.sha256 ? [] : ["its file has another SHA-256 at the service"];
}
