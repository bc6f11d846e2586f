import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { keys, openKbdump } from "../pseudo-terminal.js";
import { rounds } from "../rounds.js";

/** A new user of kbdump, in an empty folder, at a terminal of this width. */
async function sitDown(columns: number) {
  const service = await startService();
  onTestFinished(() => service.close());
  const cwd = await mkdtemp(join(tmpdir(), "kbdump-newcomer-"));
  const open = (line: string, env?: NodeJS.ProcessEnv) =>
    openKbdump(line.split(" "), { cwd, columns, rows: 100, ...(env ? { env } : {}) });
  const type = async (line: string, env?: NodeJS.ProcessEnv) => {
    const terminal = open(line, env);
    const code = await terminal.ended;
    return { code, screen: terminal.text(), broken: terminal.broken() };
  };
  return { service, cwd, open, type };
}

/** Only commands to copy, ids and paths may be wider than a narrow screen. */
function unexpected(broken: readonly string[]): readonly string[] {
  return broken.filter((line) => !/^ *(node |cat |(\w+ )?output\/|http|\([0-9a-f-]{36}\))/.test(line));
}

test.each([40, 80].slice(0, rounds(1, 2)))(
  "a newcomer gets from nothing to an answer of the database, at %d columns",
  async (columns) => {
    const { service, cwd, open, type } = await sitDown(columns);

    // Without any setup, the first line says what to do next.
    const bare = await type("run");
    expect(bare.code).toBe(2);
    expect(bare.screen).toContain("kbdump init");

    // A wrong address fails at once.
    const key = { KNOWLEDGE_API_KEY: service.key };
    const wrong = await type(`run --base-url ${service.url.replace(/v1$/, "v2")} --dataset all`, key);
    expect(wrong.code).toBe(1);
    expect(wrong.screen.replace(/\n +/g, " ")).toContain("usually ends in /v1 (GET http");

    // kbdump asks questions and writes a job.
    const dialogue = open(`init mine.yaml --ask --base-url ${service.url}`);
    await dialogue.shows("◆  API key");
    dialogue.type(`${service.key}${keys.enter}`);
    await dialogue.shows("◆  Datasets to export");
    dialogue.type(`${keys.down}${keys.down}${keys.space}${keys.enter}`);
    await dialogue.shows("◆  Documents of Company handbook");
    dialogue.type(keys.enter);
    await dialogue.shows("◆  Formats");
    dialogue.type(keys.enter);
    await dialogue.shows("◆  Where");
    dialogue.type(keys.enter);
    expect(await dialogue.ended).toBe(0);
    expect(unexpected(dialogue.broken())).toEqual([]);

    // The commands that it prints work unchanged, and their output fits the screen.
    for (const line of ["plan mine.yaml", "run mine.yaml", "verify mine", "list", "list mine.yaml"]) {
      const { code, screen, broken } = await type(line);
      expect(code, screen).toBe(0);
      expect(unexpected(broken), `${line}\n${screen}`).toEqual([]);
      expect(screen, line).not.toContain(service.key);
    }
    const rows = await type("sql mine SELECT_count(*)_AS_chunks_FROM_chunks".replaceAll("_", " "));
    expect(rows.code).not.toBe(0); // an SQL statement of several words needs quotes
    const terminal = openKbdump(["sql", "mine", "SELECT count(*) > 10 AS many FROM chunks"], { cwd, columns });
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toContain("true");
    expect(await readdir(join(cwd, "output", "mine"))).toEqual(
      expect.arrayContaining(["latest", "mine.duckdb", "runs"]),
    );
  },
  120_000,
);
