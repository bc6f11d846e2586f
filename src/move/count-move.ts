import type { DatasetPlan, DocumentPlan, MoveCounts, MoveFrom, MovePlan } from "./move-plan.js";

/** Chunks in a request: the service embeds them before it answers. */
const chunksOfRequest = 20;

/** Counts a plan. A document that failed earlier, and is not tried again, is left out. */
export function countMove({ datasets, from }: MovePlan): MoveCounts {
  const documents = datasets.flatMap((dataset) => dataset.documents);
  const coming = documents.filter(comes);
  const sum = (countOf: (document: DocumentPlan) => number) => coming.reduce((all, each) => all + countOf(each), 0);
  const there = documents.filter(isThere).length;
  const fresh = datasets.filter(isMade);
  const equipped = datasets.filter((dataset) => isMade(dataset) || isUsed(dataset));
  return {
    datasets: fresh.length,
    documents: coming.length,
    left_out: documents.length - coming.length - there,
    there,
    chunks: sum(({ chunks }) => chunks),
    children: sum(({ children }) => children),
    characters: sum(({ characters }) => characters),
    writes:
      fresh.length + equipped.reduce((all, each) => all + each.equipping, 0) + sum((each) => writesOf(each, from)),
  };
}

/** Whether a document is brought by this process: it is not left out, there already, or waiting for --retry-failed. */
export function comes({ refused, earlier }: DocumentPlan): boolean {
  return refused === null && (earlier === null || earlier.state === "begun");
}

/** Whether a dataset is to be made: it is new, and some document comes, or the dump has it without any. */
export function isMade({ target, documents }: DatasetPlan): boolean {
  return target.kind === "new" && (documents.length === 0 || documents.some(comes));
}

function isThere({ refused, earlier }: DocumentPlan): boolean {
  return refused === null && earlier?.state === "restored";
}

/** Whether documents of a dataset that is there come or came: what it lacks is made, whoever took it away. */
function isUsed({ target, documents }: DatasetPlan): boolean {
  return target.kind === "there" && documents.some(({ refused }) => refused === null);
}

/** The document itself; the chunk of its stub, chunks, changes of chunks, files; metadata values and status. */
function writesOf(document: DocumentPlan, from: MoveFrom): number {
  const { chunks, disabled, attached, attachments, metadata, enabled, archived } = document;
  const files = attachments.filter(({ file }) => file !== null).length;
  const stub = from === "chunks" ? 1 : 0;
  const rows = Math.ceil(chunks / chunksOfRequest) + disabled + attached + files;
  return 1 + stub + rows + (metadata.length > 0 ? 1 : 0) + (!enabled || archived ? 1 : 0);
}
