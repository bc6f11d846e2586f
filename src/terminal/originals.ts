import { bytesText, countText } from "../amounts.js";
import type { Manifest } from "../dump/manifest.js";
import type { RunSummary } from "../results/run.js";

type Saved = Pick<RunSummary, "originals" | "attachments">;

/** The originals and attachments of a run by what became of them; null where the job asks for none. */
export function sumOfOriginals({ originals }: Manifest): Saved {
  if (!originals) return { originals: null, attachments: null };
  return {
    originals: sumOf(originals.filter(({ attachment_id: id }) => id === null)),
    attachments: sumOf(originals.filter(({ attachment_id: id }) => id !== null)),
  };
}

function sumOf(saved: NonNullable<Manifest["originals"]>): NonNullable<Saved["originals"]> {
  const count = (verdict: (typeof saved)[number]["verdict"]) =>
    saved.filter((original) => original.verdict === verdict).length;
  const bytes = saved.reduce((sum, original) => sum + original.bytes, 0);
  return { complete: count("complete"), wrong_size: count("wrong size"), missing: count("missing"), bytes };
}

/** Renders how many originals and attachments were saved, and how many are not complete. Attachments are named if there are any. */
export function renderOriginals(manifest: Manifest): readonly string[] {
  const { originals, attachments } = sumOfOriginals(manifest);
  const hasAttachments = manifest.originals?.some(({ attachment_id: id }) => id !== null);
  return [
    ...(originals ? [savedText("original", originals)] : []),
    ...(attachments && hasAttachments ? [savedText("attachment", attachments)] : []),
  ];
}

function savedText(noun: string, sum: NonNullable<Saved["originals"]>): string {
  const { complete, wrong_size: wrong, missing, bytes } = sum;
  const bad = [
    ...(wrong > 0 ? [`${wrong} of another size than the service says`] : []),
    ...(missing > 0 ? [`${missing} missing`] : []),
  ];
  return [`${countText(complete, noun)} saved (${bytesText(bytes)})`, ...bad].join(", ");
}
