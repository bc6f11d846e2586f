import { open, readFile } from "node:fs/promises";
import * as v from "valibot";
import { parse } from "yaml";
import type { ComparedRuns } from "../../compare/compare-runs.js";
import { ofDocument } from "../../compare/load-document-rows.js";
import type { Decision } from "../../compare/lost/decisions.js";
import type { ChunkRestore, DocumentPlan, ManualEdit, RestorePlan } from "../../compare/lost/restore-plan.js";
import type { Connection } from "../../duckdb/open-duckdb.js";
import type { Manifest } from "../../dump/manifest.js";
import { type Problem, UsageError } from "../../errors.js";
import { fileErrorText } from "../../file-error.js";
import { isThere } from "../../files/files.js";
import { cutText, escapeControls } from "../../safe-text.js";
import { check, isMapping, object, oneOf, text } from "../../schema.js";

/**
 * A plan file: YAML, one line per lost row, each with `restore: yes` or `restore: no` and the texts for the decision. It is read line by
 * line; only `restore`, `id`, `now` and `now_answer` of a row count.
 */

export async function checkFree(path: string): Promise<void> {
  if (await isThere(path)) throw new UsageError(cannotUse, [{ path, message: taken }]);
}

const cannotUse = "The plan file cannot be used:";
const taken = "it is there already, and may hold your decisions; name another file";

export function planFileWriter(path: string, { run_id, job }: Manifest) {
  return async (connection: Connection, compared: ComparedRuns, plan: RestorePlan): Promise<void> => {
    const file = await open(path, "wx", 0o600).catch((error: unknown) => {
      throw unusable(path, error, { ENOENT: "its folder does not exist; make it first", EEXIST: taken });
    });
    try {
      await file.appendFile(headOf(job, run_id));
      await loadAutomatic(connection, compared);
      for (const document of plan.documents) {
        if (document.lost === 0 || document.refused !== null) continue;
        await file.appendFile(`# ${jsonText(document.document_name ?? "document")} ${document.document_id}\n`);
        const rows = plannedRows(document);
        for (const row of rows) await file.appendFile(lineOf(row));
        const known = new Set(rows.map(({ id }) => id));
        for await (const lines of automaticLines(connection, document, known)) await file.appendFile(lines);
      }
    } finally {
      await file.close();
    }
  };
}

function headOf(job: string, runId: string): string {
  return `# What run ${runId} of job ${job} had, and the service does not have any more: a line per chunk or child chunk.
# Change "restore: no" to "restore: yes", or the other way round; the rest is for you to decide by. Then:
#   kbdump restore ${job}@${runId} --plan THIS_FILE           (shows what it would write)
#   kbdump restore ${job}@${runId} --plan THIS_FILE --apply   (writes it)
# was: what is lost. now: what stands in its place; null: nothing does, and the row is added at the end.
format: 1
run: ${runId}
rows:
`;
}

/** A row of a plan file. Its other members are in the order of the file. */
interface PlanRow {
  readonly restore: "yes" | "no";
  readonly do: string;
  readonly level: string;
  readonly id: string;
  readonly position: number | null;
}

/** The rows that the plan writes or lists. */
function plannedRows({ restores, listed }: DocumentPlan): readonly PlanRow[] {
  return [
    ...restores.flatMap((restore) => [
      ...(restore.texts || restore.disable ? [chunkRow(restore)] : []),
      ...restore.children.map(({ child_id: id, position, edit, content, twin }) => ({
        ...({ restore: "yes", do: twin ? "replace" : "add", level: "child_chunk", id, position } as const),
        ...{ ...editWords(edit), why: "", was: content, now: twin?.content ?? null },
      })),
    ]),
    ...listed.map(({ level, id, position, edit, why, reason, content, answer, now, now_answer, choice }) => ({
      ...({ restore: "no", do: choice ?? "nothing", level, id, position } as const),
      ...{ ...editWords(edit), why: `${why}: ${reason}`, was: content, now, ...answers(answer, now_answer) },
    })),
  ];
}

function chunkRow({ chunk_id: id, position, edit, target, texts }: ChunkRestore): PlanRow {
  const action = texts === null ? "disable" : target === null ? "add" : "replace";
  const was = texts ?? target;
  return {
    ...({ restore: "yes", do: action, level: "chunk", id, position } as const),
    ...{ ...editWords(edit), why: "", was: was?.content ?? "", now: target?.content ?? null },
    ...answers(was?.answer, target?.answer),
  };
}

/** The old and the new answer, if the chunk has one. Only qa_model documents have answers. */
function answers(was: string | null | undefined, now: string | null | undefined) {
  return was || now ? { answer: was ?? null, now_answer: now ?? null } : {};
}

function editWords(edit: ManualEdit | null) {
  return { edit: edit?.kind ?? null, by: edit?.by ?? null, at: edit?.at ?? null };
}

function lineOf({ restore, ...rest }: PlanRow): string {
  const members = Object.entries(rest).map(([name, value]) => `${name}: ${jsonText(value)}`);
  return `- {restore: ${restore}, ${members.join(", ")}}\n`;
}

/** JSON on one line that is also valid YAML. */
function jsonText(value: unknown): string {
  return JSON.stringify(value ?? null).replace(
    /[\u0085\u2028\u2029\ufeff\u007f]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const rowsAtOnce = 1_000;

/** Makes `automatic_rows`: the lost rows without evidence of manual edits, with their texts. */
async function loadAutomatic(connection: Connection, { sources: [old] }: ComparedRuns): Promise<void> {
  const ids = "dataset_id, document_id, id";
  const selects = (["chunk", "child_chunk"] as const).map((level) => {
    const kind = `${level}s` as const;
    return `SELECT dataset_id, document_id, '${level}' AS level, id, position, content AS was FROM ${old[kind].sql}
      SEMI JOIN (SELECT c.dataset_id, c.document_id, c.id FROM losses l JOIN old_${kind} c ON c.rowid = l.row
        WHERE l.level = '${level}' AND l.manual_edit IS NULL) USING (${ids})`;
  });
  await connection.run(
    `CREATE TABLE automatic_rows AS SELECT row_number() OVER () AS nr, * FROM (${selects.join(" UNION ALL ")})`,
  );
}

async function* automaticLines(
  connection: Connection,
  document: DocumentPlan,
  known: ReadonlySet<string>,
): AsyncGenerator<string> {
  const why = "there is no evidence that a person made or edited it";
  for (let last = "0"; ; ) {
    const found = await connection.runAndReadAll(`SELECT nr::VARCHAR,
        to_json({'level': level, 'id': id, 'position': position, 'was': was})::VARCHAR
      FROM automatic_rows r WHERE nr > ${last} AND ${ofDocument(document, "r")} ORDER BY nr LIMIT ${rowsAtOnce}`);
    const rows = found.getRowsJson();
    const lines = rows.flatMap(([, json]) => {
      const { was, ...row }: Omit<PlanRow, "restore" | "do"> & { was: string } = JSON.parse(String(json));
      return known.has(row.id)
        ? []
        : [lineOf({ restore: "no", do: "add", ...row, ...editWords(null), ...{ why, was } })];
    });
    if (lines.length > 0) yield lines.join("");
    if (rows.length < rowsAtOnce) return;
    last = String(rows.at(-1)?.[0]);
  }
}

const rowSchema = object({
  restore: oneOf("yes", "no"),
  id: text,
  now: v.optional(v.nullable(text)),
  now_answer: v.optional(v.nullable(text)),
});

/** Reads the decisions in a plan file, by row id. Throws UsageError with every wrong line, or if the file is for another run. */
export async function readPlanFile(path: string, runId: string): Promise<ReadonlyMap<string, Decision>> {
  const content = await readFile(path, "utf8").catch((error: unknown) => {
    throw unusable(path, error, { ENOENT: "there is no such file" });
  });
  const decisions = new Map<string, Decision>();
  const problems: Problem[] = [];
  let run: string | undefined;
  for (const [at, line] of content.split(/\r?\n/).entries()) {
    const wrong = (message: string) => problems.push({ path: `${path}:${at + 1}`, message });
    if (/^\s*(#|$)/.test(line) || /^(format: 1|rows:)\s*$/.test(line)) continue;
    if (line.startsWith("run: ")) run = line.slice("run: ".length).trim();
    else if (!/^\s*- /.test(line)) wrong('is no line of a plan file; a row begins with "- {restore: "');
    else {
      const mapping = parsed(line);
      const row = mapping && check(rowSchema, mapping);
      if (!row) wrong('is no whole row: a row is one line, from "- {" to "}"');
      else if (row.problems) wrong(row.problems.map(({ path: name, message }) => `${name}: ${message}`).join("; "));
      else {
        const { id, restore, now, now_answer } = row.value;
        if (decisions.has(id)) wrong(`decides on ${escapeControls(cutText(id, 80))} a second time`);
        decisions.set(id, { restore: restore === "yes", now, now_answer });
      }
    }
  }
  const whose = run === undefined ? "names no run, so it is not a plan file" : `is for run ${run}, not for ${runId}`;
  if (run !== runId && problems.length === 0) problems.push({ path, message: whose });
  if (problems.length > 0) throw new UsageError(cannotUse, problems.slice(0, mostProblems));
  return decisions;
}

const mostProblems = 20;

function parsed(line: string): object | undefined {
  try {
    const rows: unknown = parse(line);
    return Array.isArray(rows) && isMapping(rows[0]) ? rows[0] : undefined;
  } catch {
    return undefined;
  }
}

/** `messages`: the text for each error code. */
function unusable(path: string, error: unknown, messages: Readonly<Record<string, string>>): UsageError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = messages[code] ?? fileErrorText(error) ?? String(error);
  return new UsageError(cannotUse, [{ path, message }]);
}
