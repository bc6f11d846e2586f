import { expect, it } from "vitest";
import type { ChildRow, ChunkRow } from "../../../src/compare/document-rows.js";
import type { Decision, PlanOptions } from "../../../src/compare/lost/decisions.js";
import type { DocumentPlan } from "../../../src/compare/lost/restore-plan.js";
import { jsonText } from "../../../src/rows/exact-json.js";
import type { Row } from "../../../src/rows/row.js";
import { JobDatabase, madeOnce } from "../../database/job-database.js";
import { change, quoted } from "../../database/query.js";
import { noRows, type Tables } from "../../dump/formats/stage.js";
import * as sound from "../../verify/sound-tables.js";
import { dumpOf, lostOf } from "./lost-dumps.js";
import { described, type MadeDocument } from "./rows.js";

/** The values of a chunk before an edit. */
export type FirstValues = Partial<Pick<ChunkRow, "content" | "answer" | "keywords" | "enabled">>;

/** The facts about the rows of a document that earlier runs recorded, by row id. */
export interface DocumentHistory {
  readonly chunks: ReadonlyMap<string, FirstValues>;
  /** The contents of child chunks before an edit. */
  readonly children: ReadonlyMap<string, string>;
  /** The chunks that a person added. */
  readonly added: ReadonlySet<string>;
}

export const noHistory: DocumentHistory = { chunks: new Map(), children: new Map(), added: new Set() };

/** A document in the older and in the newer run. */
export interface Compared {
  readonly old: MadeDocument;
  readonly target: MadeDocument;
  readonly history?: Partial<DocumentHistory> | undefined;
}

export interface Wishes extends Partial<PlanOptions> {
  readonly history?: Partial<DocumentHistory> | undefined;
}

const runs = {
  ...{ first: "20250306T010000000Z", second: "20250306T020000000Z" },
  ...{ old: "20250306T030000000Z", target: "20250307T020000000Z" },
};

/**
 * Plans for several documents with one comparison: writes two dumps and, if any document has a history, the database of
 * the job. Returns undefined for a document that the plan does not contain. Row ids are those of the original documents.
 */
export async function planAll(
  compared: readonly Compared[],
  { decisions, addManualEdits = false }: Partial<PlanOptions> = {},
): Promise<readonly (DocumentPlan | undefined)[]> {
  const database = await historyOf(compared);
  const olds = tablesOf(compared.map(({ old }) => old));
  const from = await dumpOf(olds, runs.old, database === undefined ? {} : { database });
  const to = await dumpOf(tablesOf(compared.map((each) => each.target)), runs.target);
  const { plan, warnings } = await lostOf(from, to, { decisions, addManualEdits });
  expect(warnings.filter((text) => text.startsWith("the history"))).toEqual([]);
  const plans = new Map(plan.documents.map((each) => [each.document_id, each]));
  return compared.map((_, at) => withOwnIds(plans.get(`doc${at}`), at));
}

/** Makes an id unique in the dump. */
const idIn = (at: number, id: string) => `doc${at}~${id}`;

/** The plan with the original row ids, without the prefix from `idIn`. */
function withOwnIds(plan: DocumentPlan | undefined, at: number): DocumentPlan | undefined {
  return plan && JSON.parse(JSON.stringify(plan).replaceAll(`"doc${at}~`, '"'));
}

function tablesOf(documents: readonly MadeDocument[]): Tables {
  const tables = documents.map(rowsOf);
  return {
    ...noRows,
    chunks: tables.flatMap(({ chunks }) => chunks),
    child_chunks: tables.flatMap(({ children }) => children),
    documents: tables.map(({ document }) => document),
    datasets: [sound.settings("d")],
    document_details: tables.flatMap(({ details }) => details),
  };
}

const timeOf = (seconds: number | null) => (seconds === null ? null : new Date(seconds * 1_000).toISOString());

function rowsOf(document: MadeDocument, at: number) {
  const { chunks, children, doc_form, source, indexed_at, enabled, archived } = document;
  const id = `doc${at}`;
  const chunkRow = ({ attachment_ids, ...more }: ChunkRow): Row =>
    sound.chunk(id, idIn(at, more.id), {
      ...inDump(more),
      document_id: id,
      id: idIn(at, more.id),
      attachments: attachment_ids.map((attachment) => ({ id: attachment })),
      disabled_at: timeOf(more.disabled_at),
    });
  const childRow = (child: ChildRow): Row =>
    sound.child(id, idIn(at, child.segment_id), idIn(at, child.id), {
      ...inDump(child),
      id: idIn(at, child.id),
      segment_id: idIn(at, child.segment_id),
    });
  const details = sound.details(id, {
    data_source_info: { upload_file: { id: source ?? "" } },
    process_rule: { mode: "custom", rules: {} },
    completed_at: timeOf(indexed_at),
    enabled,
    archived,
  });
  const isKnown = source !== null || indexed_at !== null || !enabled || archived;
  return {
    chunks: chunks.map(chunkRow),
    children: children.map(childRow),
    document: sound.document(id, chunks.length, children.length, { doc_form }),
    details: isKnown ? [details] : [],
  };
}

function inDump<T extends Pick<ChunkRow, "created_at" | "updated_at">>(row: T) {
  return { ...row, created_at: timeOf(row.created_at), updated_at: timeOf(row.updated_at) };
}

const withoutHistory = madeOnce(async () => {
  const job = await JobDatabase.create();
  await job.run(runs.first, {}, { run: { started_at: "1970-01-01T00:00:00.000Z" } });
  await job.run(runs.second, {});
  await job.run(runs.old, {});
  return job;
});

/** Writes the database of the job, in which the second run recorded the manual edits; undefined without any history. */
async function historyOf(compared: readonly Compared[]): Promise<string | undefined> {
  if (compared.every(({ history }) => history === undefined)) return undefined;
  const job = await withoutHistory();
  const histories = compared.map(({ history }, at) => ({ at, ...noHistory, ...history }));
  const of = (at: number, id: string) => ({
    run_id: runs.second,
    dataset_id: "d",
    document_id: `doc${at}`,
    id: idIn(at, id),
  });
  const chunks = histories.flatMap(({ at, chunks, added }) => [
    ...[...chunks].map(([id, had]) => ({ ...of(at, id), change: "edited", differs: Object.keys(had), ...had })),
    ...[...added].map((id) => ({ ...of(at, id), change: "added" })),
  ]);
  const children = histories.flatMap(({ at, children }) =>
    [...children].map(([id, content]) => ({ ...of(at, id), change: "edited", differs: ["content"], content })),
  );
  for (const [table, rows] of [
    ["chunk_changes", chunks],
    ["child_chunk_changes", children],
  ] as const)
    await change(insertSql(table, rows), job.path);
  return job.path;
}

const ids = { run_id: "VARCHAR", dataset_id: "VARCHAR", document_id: "VARCHAR", id: "VARCHAR" };
const values = { change: "VARCHAR", differs: ["VARCHAR"], content: "VARCHAR" };
const types = {
  chunk_changes: { ...ids, ...values, answer: "VARCHAR", keywords: ["VARCHAR"], enabled: "BOOLEAN" },
  child_chunk_changes: { ...ids, ...values },
};

function insertSql(table: keyof typeof types, rows: readonly object[]): string {
  const type = quoted(JSON.stringify([types[table]]));
  return `INSERT INTO ${table} BY NAME SELECT unnest(from_json(${quoted(jsonText(rows))}::JSON, ${type}), recursive := true)`;
}

/** A document before and after, and the options of the restore. */
type Given = readonly [old: MadeDocument, target: MadeDocument, wishes?: Wishes];

interface Case {
  readonly given: Given;
  /** The expected lines of the plan: see `described`. */
  readonly lines: readonly string[];
}

type Collect = (plans: (given: Given, lines: readonly string[]) => void) => void;

/**
 * Returns a function that declares a test for some documents and the expected lines of their plans. One comparison plans
 * the documents of all tests in a file, when the first test runs.
 */
export function planning(): (title: string, collect: Collect) => void {
  const all: Case[] = [];
  let found: Promise<ReadonlyMap<Case, readonly string[]>> | undefined;
  return (title, collect) => {
    const cases: Case[] = [];
    collect((given, lines) => cases.push({ given, lines }));
    all.push(...cases);
    it(title, async () => {
      found ??= linesOf(all);
      const lines = await found;
      expect(cases.map((each) => lines.get(each))).toEqual(cases.map((each) => each.lines));
    });
  };
}

/** Makes the plans with one comparison for each combination of options. */
async function linesOf(cases: readonly Case[]): Promise<ReadonlyMap<Case, readonly string[]>> {
  const lines = new Map<Case, readonly string[]>();
  const wishesOf = ({ given: [, , wishes = {}] }: Case) => wishes;
  const groups = Map.groupBy(cases, (each) => {
    const { decisions, addManualEdits } = wishesOf(each);
    return `${decisions !== undefined} ${addManualEdits === true}`;
  });
  for (const group of groups.values()) {
    const wishes = group.map(wishesOf);
    const decided = wishes.flatMap(({ decisions = new Map<string, Decision>() }, at) =>
      [...decisions].map(([id, decision]) => [idIn(at, id), decision] as const),
    );
    const options = {
      decisions: wishes[0]?.decisions && new Map(decided),
      addManualEdits: wishes[0]?.addManualEdits === true,
    };
    const compared = group.map(({ given: [old, now] }, at) => ({ old, target: now, history: wishes[at]?.history }));
    const plans = await planAll(compared, options);
    for (const [at, each] of group.entries()) lines.set(each, described(plans[at]));
  }
  return lines;
}
