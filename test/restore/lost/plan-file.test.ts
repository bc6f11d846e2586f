import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { startService } from "../../../src/demo/start-service.js";
import { runJob } from "../../../src/run/run-job.js";
import { runHere } from "../../cli/run-here.js";
import { tablesOf, twoDumps } from "../../compare/diff/dumps.js";
import { inFull } from "../../rounds.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { child, chunk } from "../../verify/sound-tables.js";
import { datasetId, documentId, KnowledgeBase } from "../random/knowledge-base.js";
import type { ManualEdit } from "../random/scenario.js";

/** A row of a plan file. */
interface PlanRow {
  readonly restore: "yes" | "no";
  readonly do: string;
  readonly level: string;
  readonly id: string;
  readonly position: number;
  readonly edit: string | null;
  readonly by: string | null;
  readonly at: string | null;
  readonly why: string;
  readonly was: string;
  readonly now: string | null;
}

/** A run of a document with manual edits, which was re-indexed afterwards. */
async function reindexed(
  early: readonly ManualEdit[],
  edits: readonly ManualEdit[],
  maxCharacters?: number,
  updated?: number,
) {
  const base = new KnowledgeBase({ form: "hierarchical_model", chunks: 6 });
  const service = await startService({ demo: base.demo });
  onTestFinished(() => service.close());
  const job = await jobFor(await testFolder(), {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: "all" }],
    child_chunks: "all",
    output: { formats: ["jsonl", "duckdb"] },
  });
  const run = async () => (await runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } })).folder;
  for (const edit of early) await base.work(edit);
  const first = await run();
  for (const edit of edits) await base.work(edit);
  const folder = await run();
  const worked = base.chunks;
  if (updated !== undefined) base.updateSource(updated);
  base.demo.store.reindex(documentId, { seconds: 0, ...(maxCharacters === undefined ? {} : { maxCharacters }) });
  const file = join(dirname(folder), "plan.yaml");
  const restore = async (...args: readonly string[]) =>
    runHere(["restore", folder, ...args], { KNOWLEDGE_RESTORE_KEY: service.key });
  const plan = async () => parse(await readFile(file, "utf8")) as { run: string; rows: readonly PlanRow[] | null };
  return { base, first, folder, worked, file, restore, plan };
}

const early = [{ do: "edit", at: 3 }] as const;
const edits = [
  ...[{ do: "edit", at: 0 } as const, { do: "disable", at: 1 } as const, { do: "add" } as const],
  { do: "edit child", at: 2 } as const,
] as const;

/** Sets these rows of a plan file to yes and all others to no. */
async function decide(file: string, isYes: (row: PlanRow) => boolean): Promise<void> {
  const lines = (await readFile(file, "utf8")).split("\n").map((line) => {
    if (!line.startsWith("- {")) return line;
    const [row] = parse(line);
    return line.replace(/restore: (yes|no)/, `restore: ${isYes(row) ? "yes" : "no"}`);
  });
  await writeFile(file, lines.join("\n"));
}

test.runIf(inFull)(
  "--plan-out writes a line for each lost row, those that are restored with yes, and asks for nothing else",
  async () => {
    const { base, folder, worked, file, restore, plan } = await reindexed(early, edits);
    const before = base.chunks;
    const { code, stdout, stderr } = await restore("--plan-out", file, "--json");
    expect(code, stderr).toBe(0);
    expect(base.chunks).toEqual(before);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ status: "planned", plan_file: file, manual_edits: 5 });
    const { run, rows } = await plan();
    expect(run).toBe(result.run.run_id);
    expect(rows).toHaveLength(result.lost);
    const manual = (rows ?? []).filter(({ edit }) => edit !== null);
    expect(
      manual.map(({ restore, do: what, level, edit, was, now }) => [restore, what, level, edit, was, now]),
    ).toEqual([
      ["yes", "replace", "chunk", "edited", worked[0]?.content, before[0]?.content],
      ["yes", "disable", "chunk", "disabled", worked[1]?.content, before[1]?.content],
      ["yes", "add", "child_chunk", "customized", worked[2]?.children[0]?.content, null],
      ["yes", "add", "chunk", "added", worked[6]?.content, null],
      ["no", "replace", "chunk", "edited", worked[3]?.content, before[3]?.content],
    ]);
    expect(manual.at(-1)).toMatchObject({
      id: worked[3]?.id,
      why: expect.stringMatching(
        /^needs your decision: A person edited it, and the text before the edit is not known: /,
      ),
      by: expect.any(String),
      at: expect.stringMatching(/^20/),
    });
    for (const { restore, do: what, why, now } of (rows ?? []).filter(({ edit }) => edit === null))
      expect([restore, what, why, now]).toEqual([
        "no",
        "add",
        "there is no evidence that a person made or edited it",
        undefined,
      ]);
    const text = await readFile(file, "utf8");
    expect(text).toContain(`\nrun: ${folder.slice(-19)}\n`);
    expect(text).toContain(`# "one.txt" ${documentId}\n`);
    expect(
      text
        .trimEnd()
        .split("\n")
        .filter((line) => !/^(#|format: 1$|run: |rows:$|- \{restore: (yes|no), )/.test(line)),
    ).toEqual([]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  },
);

test.runIf(inFull)(
  "--plan restores the rows that say yes and no others, and the proof agrees",
  async () => {
    const { base, worked, file, restore } = await reindexed(early, edits);
    const before = base.chunks;
    const written = (await restore("--plan-out", file)).stdout;
    expect(written).toContain(`The plan is in ${file}: say yes or no there, then write it:\n`);
    expect(written).toContain(` --plan ${file} --apply`);
    expect(written).not.toMatch(/--plan-out|--manual-edits/);
    const wanted = [worked[3]?.id, worked[6]?.id];
    await decide(file, ({ id }) => wanted.includes(id));
    const shown = JSON.parse((await restore("--plan", file, "--json")).stdout);
    expect(shown).toMatchObject({ status: "planned", counts: { rows: 2, chunks_updated: 1, chunks_added: 1 } });
    const [document] = shown.plan.documents;
    expect(document.restores.map(({ chunk_id }: { chunk_id: string }) => chunk_id)).toEqual(wanted);
    expect(new Set(document.listed.map(({ why }: { why: string }) => why))).toEqual(new Set(["left out"]));
    const { code, stdout, stderr } = await restore("--plan", file, "--apply", "--yes");
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("restored: 2 of 2; proved");
    const contents = before.map(({ content }, at) => (at === 3 ? worked[3]?.content : content));
    expect(base.chunks.map(({ content }) => content)).toEqual([...contents, worked[6]?.content]);
    expect(base.chunks.every(({ isEnabled }) => isEnabled)).toBe(true);
    expect(base.chunks[2]?.children.map(({ content }) => content)).toEqual(
      before[2]?.children.map(({ content }) => content),
    );
  },
  90_000,
);

test.runIf(inFull)(
  "an unchanged plan file restores the same as the command without it",
  async () => {
    const { base, worked, file, restore } = await reindexed([], edits);
    await restore("--plan-out", file);
    const { code, stdout, stderr } = await restore("--plan", file, "--apply", "--yes");
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("restored: 4 of 4; proved");
    const standing = base.chunks.map(({ content, isEnabled }) => [content, isEnabled]);
    expect(standing).toEqual(worked.map(({ content, isEnabled }) => [content, isEnabled]));
    expect(base.chunks[2]?.children.map(({ content }) => content)).toEqual([worked[2]?.children[0]?.content]);
  },
  90_000,
);

test("an automatic row comes back if its line says yes", async () => {
  const { base, worked, file, restore, plan } = await reindexed([], [{ do: "edit", at: 0 }], 40);
  await restore("--plan-out", file);
  const automatic = (await plan()).rows?.find(({ edit, level }) => edit === null && level === "chunk");
  expect(automatic).toMatchObject({ id: worked[1]?.id, was: worked[1]?.content });
  await decide(file, ({ id }) => id === automatic?.id);
  const { code, stdout, stderr } = await restore("--plan", file, "--apply", "--yes");
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("restored: 1 of 1; proved");
  expect(base.chunks.at(-1)?.content).toBe(worked[1]?.content);
}, 90_000);

test.runIf(inFull)(
  "an automatic row comes back as its line says, even if the source has another text in its place",
  async () => {
    const { base, worked, file, restore, plan } = await reindexed([], [{ do: "edit", at: 0 }], undefined, 3);
    const before = base.chunks.map(({ content }) => content);
    await restore("--plan-out", file);
    const automatic = (await plan()).rows?.find(({ edit, level }) => edit === null && level === "chunk");
    expect(automatic).toMatchObject({ id: worked[3]?.id, was: worked[3]?.content, do: "add" });
    await decide(file, ({ id }) => id === automatic?.id);
    expect(await restore("--plan", file, "--apply", "--yes")).toMatchObject({ code: 0 });
    expect(base.chunks.map(({ content }) => content)).toEqual([...before, worked[3]?.content]);
  },
  90_000,
);

test.runIf(inFull)(
  "a row whose place changed since the plan was written needs a decision, and stays unchanged",
  async () => {
    const { base, worked, file, restore } = await reindexed(early, edits);
    await restore("--plan-out", file);
    await decide(file, ({ id }) => [worked[0]?.id, worked[3]?.id, worked[6]?.id].includes(id));
    await base.work({ do: "edit", at: 3 });
    await base.work({ do: "edit", at: 0 });
    const standing = base.chunks.map(({ content }) => content);
    const shown = JSON.parse((await restore("--plan", file, "--json")).stdout);
    const undecided = shown.plan.documents[0].listed.filter(
      ({ why }: { why: string }) => why === "needs your decision",
    );
    expect(undecided.map(({ id, reason }: { id: string; reason: string }) => [id, reason])).toEqual(
      [worked[0]?.id, worked[3]?.id].map((id) => [id, "The text in its place changed since you decided."]),
    );
    const { code, stdout, stderr } = await restore("--plan", file, "--apply", "--yes");
    expect(code, stderr).toBe(3);
    expect(stdout).toContain("partial: 1 of 3 restored");
    expect(stdout).toMatch(/restore \S+ --plan-out plan\.yaml\n.*\n {2}\S.* restore \S+ --manual-edits\n/); // neither of the suggested commands has the flag --plan again
    expect(base.chunks.map(({ content }) => content)).toEqual([...standing, worked[6]?.content]);
  },
  90_000,
);

test.runIf(inFull)("a plan for another run, and one with wrong lines, are refused with the place of each", async () => {
  const { base, first, file, restore } = await reindexed(early, edits);
  const before = base.chunks;
  await restore("--plan-out", file);
  const good = await readFile(file, "utf8");
  const other = good.replace(/^run: .*$/m, `run: ${first.slice(-19)}`);
  const lines = good.split("\n");
  const at = lines.findIndex((line) => line.startsWith("- {")) + 1;
  const wrong = [...lines];
  wrong.splice(
    at,
    0,
    '- {restore: maybe, id: "x"}',
    "- {restore: yes}",
    "- restore: yes, no",
    "restore: yes",
    "- {restore: yes, id: [}",
    '- {restore: yes, id: "y"}',
    '- {restore: no, id: "y"}',
  );
  for (const [text, messages] of [
    [other, [`${file}: is for run ${first.slice(-19)}, not for `]],
    ["", [`${file}: names no run, so it is not a plan file`]],
    ["{}", [`${file}:1: is no line of a plan file`]],
    [
      wrong.join("\n"),
      [
        `${file}:${at + 1}: restore: got "maybe"`,
        `${file}:${at + 2}: id: got nothing, expected a text\n`,
        `${file}:${at + 3}: `,
        `${file}:${at + 4}: is no line of a plan file; a row begins with "- {restore: "`,
        `${file}:${at + 5}: is no whole row: a row is one line, from "- {" to "}"\n`,
        `${file}:${at + 7}: decides on y a second time\n`,
      ],
    ],
  ] as const) {
    await writeFile(file, text);
    const { code, stderr } = await restore("--plan", file, "--apply", "--yes");
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(/^kbdump: The plan file cannot be used:/);
    for (const message of messages) expect(stderr).toContain(message);
  }
  const unplaced = await restore("--plan-out", join(dirname(file), "no", "plan.yaml"));
  expect([unplaced.code, unplaced.stderr]).toEqual([2, expect.stringContaining("its folder does not exist")]);
  await writeFile(file, "decided");
  const taken = await restore("--plan-out", file);
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining("it is there already")]);
  expect(await readFile(file, "utf8")).toBe("decided");
  const absent = await restore("--plan", join(dirname(file), "no.yaml"));
  expect([absent.code, absent.stderr]).toEqual([2, expect.stringContaining("no.yaml: there is no such file")]);
  expect(base.chunks).toEqual(before);
});

test.runIf(inFull)(
  "an id that is not lost any more is said, and nothing is written",
  async () => {
    const { base, file, restore, worked } = await reindexed([], [{ do: "add" }]);
    await restore("--plan-out", file);
    expect(await restore("--apply", "--yes")).toMatchObject({ code: 0 });
    const before = base.chunks;
    const { code, stdout, stderr } = await restore("--plan", file, "--apply", "--yes");
    expect(code, stderr).toBe(0);
    expect(`${stdout}${stderr}`.replace(/\s+/g, " ")).toContain(`${worked[6]?.id}: not lost, so nothing is written`);
    expect(base.chunks).toEqual(before);
  },
  90_000,
);

test.runIf(inFull)(
  "a chunk that the indexing made is not said to be left out by its owner where its child chunk was lost",
  async () => {
    const more = { position: 1, enabled: true, status: "completed" };
    const [older, newer] = await twoDumps(
      tablesOf([chunk("a", "1", more), chunk("a", "2", more)], [child("a", "1", "k", { type: "customized" })]),
      tablesOf([chunk("a", "x", { ...more, content: "text of 2" })]),
    );
    const { stdout } = await runHere(["restore", older, "--against", newer, "--json"]);
    const [{ lost, manual_edits, listed }] = JSON.parse(stdout).plan.documents;
    expect([lost, manual_edits, listed.map(({ id, why }: { id: string; why: string }) => [id, why])]).toEqual([
      2,
      1,
      [["k", "needs your decision"]],
    ]);
  },
);
