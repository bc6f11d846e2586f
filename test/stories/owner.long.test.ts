import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { runJob } from "../../src/run/run-job.js";
import { keys, openKbdump } from "../pseudo-terminal.js";
import { datasetId, documentId, KnowledgeBase } from "../restore/random/knowledge-base.js";
import { rounds } from "../rounds.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { readJsonl } from "../run/read-dump.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const manual = "1e63378f-0ff6-41a4-8f48-687d51b4e63d"; // a document whose chunks have manual edits

/** The owner of a knowledge base, about to re-index a document. */
async function sitDown(columns: number) {
  const service = await startService();
  onTestFinished(() => service.close());
  const cwd = await mkdtemp(join(tmpdir(), "kbdump-owner-"));
  await writeFile(
    join(cwd, "manual.yaml"),
    JSON.stringify({ service: { base_url: service.url }, datasets: [{ id: dataset, documents: [manual] }] }),
  );
  const type = async (...args: readonly string[]) => {
    const terminal = openKbdump(args, { cwd, columns, rows: 400, env: { KNOWLEDGE_API_KEY: service.key } });
    const code = await terminal.ended;
    return { code, screen: terminal.text(), lines: terminal.lines(), broken: terminal.broken() };
  };
  const reindex = async () => {
    const headers = { authorization: `Bearer ${service.key}` };
    const url = new URL(`/demo/reindex/${manual}?seconds=0`, service.url);
    expect((await fetch(url, { method: "POST", headers })).status).toBe(202);
  };
  return { service, cwd, type, reindex };
}

test.each([40, 80].slice(0, rounds(1, 2)))(
  "the owner sees what a re-index removed, the lost text first, at %d columns",
  async (columns) => {
    const { cwd, type, reindex } = await sitDown(columns);
    expect((await type("run", "manual.yaml")).code).toBe(0);
    const before = await readJsonl(join(cwd, "output", "manual", "latest"), "chunks");
    await reindex();
    expect((await type("run", "manual.yaml")).code).toBe(0);
    const { code, screen, broken } = await type("diff", "manual");
    expect(code, screen).toBe(4);
    expect(broken.filter((line) => !line.startsWith("comparing output/"))).toEqual([]);
    const [manual = -1, others = -1] = ["Lost, with manual edits:", "Lost, without evidence"].map((title) =>
      screen.indexOf(title),
    );
    expect(manual).toBeGreaterThan(-1);
    expect(others === -1 || manual < others).toBe(true);
    const shown = screen.replace(/\s+/g, " ");
    const after = new Set(
      (await readJsonl(join(cwd, "output", "manual", "latest"), "chunks")).map((row) => row.content),
    );
    const lost = before.filter(({ updated_by, content }) => updated_by !== null && !after.has(content));
    expect(lost.length).toBeGreaterThan(5);
    for (const row of lost) {
      const text = String(row.content).replace(/\s+/g, " ");
      // the page shows the lost part of a changed chunk, which is at its end, and the beginning of a removed one
      expect(
        [text.slice(0, 40), text.slice(-30)].some((part) => shown.includes(part)),
        text,
      ).toBe(true);
    }
  },
  120_000,
);

/**
 * A re-index removed manual edits: an edit and a new chunk between two runs, and an edit from before the first run,
 * whose original text is unknown.
 */
async function loseWork() {
  const base = new KnowledgeBase({ form: "text_model", chunks: 6 });
  const service = await startService({ demo: base.demo });
  onTestFinished(() => service.close());
  const job = await jobFor(await testFolder(), {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: [documentId] }],
    output: { formats: ["jsonl", "duckdb"] },
  });
  const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } });
  await base.work({ do: "edit", at: 3 });
  await run();
  await base.work({ do: "edit", at: 0 });
  await base.work({ do: "add" });
  const { folder } = await run();
  const contents = () => base.chunks.map(({ content }) => content);
  const worked = contents();
  base.demo.store.reindex(documentId, { seconds: 0 });
  const restore = (columns: number, ...more: readonly string[]) =>
    openKbdump(["restore", folder, ...more], {
      columns,
      rows: 400,
      env: { KNOWLEDGE_RESTORE_KEY: service.key },
    });
  return { restore, contents, worked, host: new URL(service.url).host };
}

test("the owner looks at the plan, stops at the questions, and then has everything back", async () => {
  const { restore, contents, worked, host } = await loseWork();
  const lost = contents();
  const isCommand = (line: string) => /kbdump|main\.js|comparing/.test(line);

  const plan = restore(40);
  expect(await plan.ended, plan.text()).toBe(0);
  expect(plan.broken().filter((line) => !isCommand(line))).toEqual([]);
  expect(plan.text()).toContain("plan: 2 rows to write");

  const stopped = restore(40, "--apply");
  await stopped.shows("What do you want to restore?");
  expect(stopped.broken()).toEqual([]);
  stopped.type(keys.enter); // restore as planned
  await stopped.shows("Send 2 write requests");
  stopped.type(keys.ctrlC);
  expect(await stopped.ended).toBe(130);
  expect(stopped.text()).toContain("Nothing was written.");
  expect(contents()).toEqual(lost);

  const done = restore(80, "--apply");
  await done.shows("What do you want to restore?");
  expect(done.text()).toContain("2 rows, as planned");
  const shown = done.text().replace(/[\s│]+/g, " ");
  expect(shown).toMatch(/chunk at 4 \S+ .*A person edited it, and the text before/);
  expect(shown).toContain(`- ${lost[3]}`);
  expect(shown).toContain(`+ ${worked[3]}`);
  done.type(`${keys.down}${keys.enter}`); // the rows of the plan, and the row that needs a decision
  await done.shows(`Send 3 write requests or more to ${host}?`);
  expect(done.text()).toContain("Yes, restore 3 rows");
  done.type(`${keys.down}${keys.enter}`);
  expect(await done.ended, done.text()).toBe(0);
  expect(done.text()).toContain("restored: 3 of 3; proved");
  expect(contents()).toEqual(worked);
}, 60_000);
