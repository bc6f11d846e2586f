import type { Manifest } from "../dump/manifest/manifest.js";
import type { RunSummary } from "../results/run.js";
import { bytesText, countText } from "./text.js";

/** The originals of a run by what became of them; null where the job asks for none. */
export function sumOfOriginals({ originals }: Manifest): RunSummary["originals"] {
  if (!originals) return null;
  const count = (verdict: (typeof originals)[number]["verdict"]) =>
    originals.filter((original) => original.verdict === verdict).length;
  const bytes = originals.reduce((sum, original) => sum + original.bytes, 0);
  return { complete: count("complete"), wrong_size: count("wrong size"), missing: count("missing"), bytes };
}

/** Renders how many originals were saved, and how many are not complete. */
export function renderOriginals(manifest: Manifest): readonly string[] {
  const sum = sumOfOriginals(manifest);
  if (!sum) return [];
  const { complete, wrong_size: wrong, missing, bytes } = sum;
  const bad = [
    ...(wrong > 0 ? [`${wrong} of another size than the service says`] : []),
    ...(missing > 0 ? [`${missing} missing`] : []),
  ];
  return [[`${countText(complete, "original")} saved (${bytesText(bytes)})`, ...bad].join(", ")];
}
