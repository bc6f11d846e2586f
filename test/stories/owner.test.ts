import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { openKbdump } from "../pseudo-terminal.js";
import { readJsonl } from "../run/read-dump.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const manual = "1e63378f-0ff6-41a4-8f48-687d51b4e63d"; // chunks that people have edited

/** The owner of a knowledge base, who is about to re-index a document. */
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

test.each([80, 40])(
  "the owner sees what a re-index took, the lost text first, at %d columns",
  async (columns) => {
    const { cwd, type, reindex } = await sitDown(columns);
    expect((await type("run", "manual.yaml")).code).toBe(0);
    const before = await readJsonl(join(cwd, "output", "manual", "latest"), "chunks");
    await reindex();
    expect((await type("run", "manual.yaml")).code).toBe(0);
    const { code, screen, broken } = await type("diff", "manual");
    expect(code, screen).toBe(4);
    expect(broken.filter((line) => !line.startsWith("comparing output/"))).toEqual([]);
    expect(screen.indexOf("Lost by the re-index, made by hand:")).toBeLessThan(screen.indexOf("Other differences:"));
    const shown = screen.replace(/\s+/g, " ");
    const after = new Set(
      (await readJsonl(join(cwd, "output", "manual", "latest"), "chunks")).map((row) => row.content),
    );
    const lost = before.filter(({ updated_by, content }) => updated_by !== null && !after.has(content));
    expect(lost.length).toBeGreaterThan(5);
    for (const row of lost) {
      const text = String(row.content).replace(/\s+/g, " ");
      // of a changed chunk the part that was lost, which is its end; of a removed one the beginning
      expect(
        [text.slice(0, 40), text.slice(-30)].some((part) => shown.includes(part)),
        text,
      ).toBe(true);
    }
  },
  120_000,
);
