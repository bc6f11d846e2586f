import { mkdtemp, readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { startService } from "../../../src/demo/start-service.js";
import { runKbdump } from "../../cli/run-kbdump.js";
import { keys, openKbdump } from "../../pseudo-terminal.js";

async function place() {
  const service = await startService();
  onTestFinished(() => service.close());
  return { service, folder: await mkdtemp(join(tmpdir(), "kbdump-init-")) };
}

test.each([80, 40])(
  "asks at a terminal of %d columns, corrects wrong answers, and writes a job that runs",
  async (columns) => {
    const { service, folder } = await place();
    const terminal = openKbdump(["init", "mine.yaml", "--ask"], { cwd: folder, columns, rows: 200 });
    await terminal.shows("◆  Base URL");
    terminal.type(`kb.example.com${keys.enter}`);
    await terminal.shows("◆  API key");
    terminal.type(`dataset-wrong${keys.enter}`);
    await terminal.shows(/│ {2}got\s+"kb\.example\.com"[^◆]*◆ {2}Base URL/); // the command asks for the URL again and keeps the key
    terminal.type(`${service.url}0${keys.enter}`);
    await terminal.shows(/usually[^◆]*◆ {2}Base URL/); // after a 404 the key may still be right
    terminal.type(`${service.url}${keys.enter}`);
    await terminal.shows(/the\s+(│\s+)?key\s+(│\s+)?you\s+(│\s+)?typed[^◆]*401[^◆]*\(GET[^◆]*◆ {2}API key/);
    terminal.type(`${service.key}${keys.enter}`);
    await terminal.shows("◆  Datasets to export");
    terminal.type(`${keys.down}${keys.space}${keys.enter}`);
    await terminal.shows("◆  Documents of Product knowledge");
    terminal.type(`${keys.down}${keys.enter}`);
    await terminal.shows("◆  Documents to export");
    terminal.type(`${keys.space}${keys.down}${keys.space}${keys.enter}`);
    await terminal.shows("◆  Formats");
    terminal.type(keys.enter);
    await terminal.shows("◆  Where");
    terminal.type(keys.enter);
    expect(await terminal.ended).toBe(0);

    expect(terminal.text()).not.toContain(service.key);
    expect(terminal.text()).toMatch(
      /Wrote mine\.yaml and mine\.key\.[\s\S]*Next:\n {2}kbdump plan mine\.yaml\n {2}kbdump run mine\.yaml$/,
    );
    const text = await readFile(join(folder, "mine.yaml"), "utf8");
    expect(text).not.toContain(service.key);
    expect(text).toMatch(/- id: \S+ # Product knowledge\n/);
    expect(parse(text)).toMatchObject({ datasets: [{ documents: [expect.any(String), expect.any(String)] }] });
    expect((await stat(join(folder, "mine.key"))).mode & 0o777).toBe(0o600);
    const run = await runKbdump(["run", "mine.yaml", "--format", "jsonl", "--child-chunks", "none"], {}, folder);
    expect(run.code).toBe(0);
    expect(run.stdout).toContain("complete: 2 documents");
  },
);

test("Ctrl-C ends it with 130, and nothing is written", async () => {
  const { service, folder } = await place();
  const env = { KNOWLEDGE_API_KEY: service.key };
  const terminal = openKbdump(["init", "--ask", "--base-url", service.url], { cwd: folder, env });
  await terminal.shows("◆  Datasets to export");
  terminal.type(keys.ctrlC);
  expect(await terminal.ended).toBe(130);
  expect(terminal.text()).toContain("No job file was written.");
  expect(await readdir(folder)).toEqual([]);
});
