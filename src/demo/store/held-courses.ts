import type { StoredDocument } from "../index-knowledge.js";
import type { StatusEntry } from "../knowledge.js";
import { type Course, documentAt, entryAt, isOver, outcomeOf } from "../reindex/course.js";
import { reindexedDocument } from "../reindex/reindexed-document.js";
import type { Source } from "../reindex/source.js";
import type { Begun, HeldDocument } from "./held.js";

/** An indexing that shall begin; `number` tells apart the batches of one second. */
interface Start extends Pick<Course, "startedAt" | "seconds" | "error"> {
  readonly number: number;
}

/** Begins to index a document that is idle from a source. Its version is at once the one that the indexing leaves. */
export function beginCourse(held: HeldDocument, source: Source, { number, startedAt, seconds, error }: Start): Begun {
  const { version: before, dataset } = held;
  const batch = batchName(new Date(startedAt * 1000), number);
  const generation = held.courses.length + 1;
  const after = reindexedDocument(before, source, { generation, startedAt: Math.floor(startedAt), seconds });
  const begun = { dataset_id: dataset.row.id, document_id: before.row.id, batch };
  const course = { ...begun, before, after, startedAt, seconds, error };
  held.courses.push(course);
  held.version = outcomeOf(course);
  return begun;
}

/** The document at a time, in Unix seconds. */
export function presentAt(held: HeldDocument, now: number): StoredDocument {
  const course = runningAt(held, now);
  return course ? documentAt(course, now) : held.version;
}

/** The indexing that is under way at a time. */
export function runningAt({ courses }: HeldDocument, now: number): Course | undefined {
  const newest = courses.at(-1);
  return newest && !isOver(newest, now) ? newest : undefined;
}

/** The entry of the document in its batches; undefined if no indexing began here. */
export function entryOf({ courses }: HeldDocument, now: () => number): StatusEntry | undefined {
  const newest = courses.at(-1);
  return newest && entryAt(newest, now());
}

/** The time, as the service names batches, and a number. */
function batchName(time: Date, number: number): string {
  return time.toISOString().slice(0, 19).replace(/\D/g, "") + String(number).padStart(6, "0");
}
