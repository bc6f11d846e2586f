import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { finished, runKbdump, startKbdump } from "../cli/run-kbdump.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { jobFile, testFolder } from "./job-for.js";

const compressions = ["gzip", "zstd"] as const;

const signals = ["SIGKILL", "SIGTERM"] as const;
const endings = { gzip: "gz", zstd: "zst" };
const cases = compressions.flatMap((compress) => signals.map((signal) => ({ compress, signal })));

test.each(cases)(
  "$signal while $compress is joined: it ends promptly, and the next run writes the whole files",
  async ({ compress, signal }) => {
    const store = new Store();
    const document = makeDocument({ chunks: 800, seed: 1 });
    for (const [at, chunk] of document.chunks.entries()) {
      const text = Array.from({ length: 4_000 }, (_, word) => ((at + 7) * (word + 13)) % 9_973).join(" "); // 20 kB
      Object.assign(chunk, { content: text, sign_content: text });
    }
    const dataset = store.addDataset(document);
    const server = await startRealisticServer(store);
    onTestFinished(() => server.close());
    const folder = await testFolder();
    const job = await jobFile(folder, {
      service: { base_url: server.url },
      datasets: [{ id: dataset.id, documents: [document.id] }],
      child_chunks: "none",
      output: { dir: join(folder, "out"), formats: ["jsonl"], compress },
    });
    const place = join(folder, "out", "test");
    const file = `chunks.jsonl.${endings[compress]}`;
    const run = ["run", job, "--quiet"];
    const env = { KNOWLEDGE_API_KEY: server.key };
    expect(await runKbdump(run, env)).toMatchObject({ code: 0 });
    const undisturbed = await readFile(join(place, "latest", file));
    await rm(place, { recursive: true });

    const child = startKbdump(run, env);
    const done = finished(child);
    while (!(await isJoining(place, file))) await sleep(1);
    const [sent] = [performance.now(), child.kill(signal)];
    const { code, stderr } = await done;
    expect(performance.now() - sent, stderr).toBeLessThan(5_000);
    expect(code, stderr).toBe(signal === "SIGTERM" ? 143 : null);
    expect(await readdir(join(place, "runs")).catch(() => [])).toEqual([]);

    server.reset();
    expect(await runKbdump(run, env)).toMatchObject({ code: 0 });
    expect(server.requests.filter(({ path }) => path.endsWith("/segments"))).toEqual([]);
    expect((await readFile(join(place, "latest", file))).equals(undisturbed)).toBe(true);
    expect(await runKbdump(["verify", join(place, "latest")])).toMatchObject({ code: 0 });
  },
  180_000,
);

/** Whether a running job has started to write this file to its stage. */
async function isJoining(place: string, file: string): Promise<boolean> {
  const names = await readdir(join(place, ".work"), { recursive: true }).catch(() => []);
  return names.some((name) => name.endsWith(join("stage", file)));
}
