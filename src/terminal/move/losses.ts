import { countText } from "../../amounts.js";
import type { DatasetPlan, LossPart } from "../../restore/copy/copy-plan.js";
import { nameText } from "../../words.js";
import { wrapToWidth } from "../display-width.js";
import { type Page, terminalText } from "../text.js";

/** Losses of one dataset that are shown. */
const mostLosses = 20;

/** A part with the rows that lose it. */
const subjects: Readonly<Record<LossPart, (rows: number) => string>> = {
  chunks: (rows) => countText(rows, "chunk"),
  children: (rows) => countText(rows, "child chunk"),
  attachments: (rows) => `attachments of ${countText(rows, "chunk")}`,
  summaries: (rows) => `summaries of ${countText(rows, "chunk")}`,
  metadata: (rows) => countText(rows, "metadata value"),
  settings: () => "settings",
  "process rule": () => "process rule",
  source: () => "source",
  name: () => "name",
};

/** The same loss in all documents that have it. */
interface SharedLoss {
  readonly part: LossPart;
  readonly reason: string;
  rows: number;
  /** Names of documents; none of a loss of the dataset itself. */
  readonly documents: string[];
}

/** Renders the announced losses of a dataset and its documents, each once; nothing where there are none. */
export function renderLosses(plan: DatasetPlan, { columns }: Page): readonly string[] {
  const losses = sharedLosses(plan);
  if (losses.length === 0) return [];
  const more = losses.length - mostLosses;
  return [
    "Does not come:",
    ...losses.slice(0, mostLosses).flatMap((loss) => wrapToWidth(`- ${textOf(loss)}`, columns, "  ")),
    ...(more > 0 ? [`… and ${countText(more, "other")}: --json lists all`] : []),
  ];
}

function sharedLosses({ losses, documents }: DatasetPlan): readonly SharedLoss[] {
  const shared = new Map<string, SharedLoss>();
  const all = [
    ...losses.map((loss) => ({ ...loss, document: undefined })),
    ...documents.flatMap((each) => each.losses.map((loss) => ({ ...loss, document: each.document_name }))),
  ];
  for (const { part, rows, reason, document } of all) {
    const key = `${part}: ${reason}`;
    const own = shared.get(key) ?? { part, reason, rows: 0, documents: [] };
    own.rows += rows;
    if (document !== undefined) own.documents.push(document);
    shared.set(key, own);
  }
  return [...shared.values()];
}

/** `summaries of 5 chunks (2 documents): no request writes them` */
function textOf({ part, reason, rows, documents }: SharedLoss): string {
  const [first = ""] = documents;
  const only = nameText(first) || "1 document";
  const place =
    documents.length === 0 ? "" : ` (${documents.length === 1 ? only : countText(documents.length, "document")})`;
  return `${subjects[part](rows)}${place}: ${terminalText(reason, 300)}`;
}
