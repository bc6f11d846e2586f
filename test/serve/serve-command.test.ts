import { once } from "node:events";
import { chmod, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runHere } from "../cli/run-here.js";
import { finished, runKbdump, startKbdump } from "../cli/run-kbdump.js";
import { plainFolder } from "../dump/formats/folder.js";
import { inFull } from "../rounds.js";
import { soundTables } from "../verify/sound-tables.js";
import { writeDump } from "../verify/write-dump.js";

/** Starts `kbdump serve`; returns the address from its JSON output. */
async function start(folder: string, flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const child = startKbdump(["serve", folder, "--json", ...flags], env);
  onTestFinished(() => void child.kill("SIGKILL"));
  const end = finished(child);
  const [text] = await Promise.race([
    once(child.stdout ?? child, "data"),
    end.then(({ stderr }) => expect.fail(stderr)),
  ]);
  return { child, end, address: JSON.parse(String(text)) };
}

const ask = (url: string, key: string) => fetch(`${url}/datasets`, { headers: { authorization: `Bearer ${key}` } });

test("serve: prints the address and its own key, answers until a signal, and does not change the dump", async () => {
  const folder = await writeDump(await plainFolder(), soundTables);
  const { mtimeMs } = await stat(folder);
  await chmod(folder, 0o500);
  const [one, other] = await Promise.all([start(folder), start(folder)]);
  expect(one.address).toEqual({
    status: "serving",
    key_env: null,
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    key: expect.stringMatching(/^kbdump-[0-9a-f]{24}$/),
    job: "test",
    run_id: "20250306T132000000Z",
    counts: { documents: 2, chunks: 3, child_chunks: 2 },
  });
  for (const { address } of [one, other]) {
    const answer = await ask(address.base_url, address.key);
    expect(await answer.json()).toMatchObject({ data: [{ id: "d", name: null, document_count: 2 }], total: 1 });
  }
  expect((await ask(one.address.base_url, other.address.key)).status).toBe(401);
  one.child.kill("SIGTERM");
  other.child.kill("SIGINT");
  for (const { end } of [one, other]) {
    const { code, stderr } = await end;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "serving run 20250306T132000000Z of job test: 2 documents, 3 chunks, 2 child chunks\n",
    });
  }
  await chmod(folder, 0o700);
  expect((await stat(folder)).mtimeMs).toBe(mtimeMs);
});

test.runIf(inFull)("the key of a variable is taken, and never shown", async () => {
  const folder = await writeDump(await plainFolder(), soundTables);
  const { child, address, end } = await start(folder, ["--key-env", "BACKUP_KEY"], { BACKUP_KEY: " s3cret-key\n" });
  expect(address).toMatchObject({ key_env: "BACKUP_KEY" });
  expect((await ask(address.base_url, "s3cret-key")).status).toBe(200);
  const refused = await ask(address.base_url, "s3cret");
  expect([refused.status, await refused.text()]).toEqual([401, expect.not.stringContaining("s3cret")]);
  child.kill();
  const { stdout, stderr } = await end;
  expect(stdout + stderr).not.toContain("s3cret");
});

test.runIf(inFull)("a dump that is deleted while it is served is still served", async () => {
  const folder = await writeDump(await plainFolder(), soundTables);
  const { address } = await start(folder);
  await rm(folder, { recursive: true });
  const url = `${address.base_url}/datasets/d/documents/a/segments`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${address.key}` } });
  expect(await answer.json()).toMatchObject({ total: 2, data: [{ id: "a1" }, { id: "a2" }] });
});

test.runIf(inFull)("the rows are copied to TMPDIR, into a file without a name", async () => {
  const folder = await writeDump(await plainFolder(), soundTables, { formats: ["csv"] });
  const temporary = await plainFolder();
  const { address } = await start(folder, [], { TMPDIR: temporary });
  expect(await (await ask(address.base_url, address.key)).json()).toMatchObject({ total: 1 });
  expect(await readdir(temporary)).toEqual([]);
  const { code, stderr } = await runKbdump(["serve", folder], { TMPDIR: join(temporary, "absent") });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/cannot be copied to \S+: ENOENT; set TMPDIR to a folder that can be written to/),
  ]);
});

test.each([
  [["--key-env", "NO_SUCH_KEY"], /the variable NO_SUCH_KEY is not set/],
  [["--key-env", "EMPTY_KEY"], /the variable EMPTY_KEY is empty/],
  [["--key-env", ""], /--key-env: expected the name of an environment variable/],
  [["--key-env", "A", "--key-env", "B"], /--key-env: given more than once/],
  [["--key-env"], /--key-env: expected a value: environment variable with the key/],
  [["--port"], /--port: expected a value: port on 127/],
  [["--key", "x"], /--key: only with --demo.*use --key-env/],
  [["--demo"], /--demo: not together with a run/],
  [["--port", "-1"], /--port: got "-1", expected a whole number from 0 to 65535/],
])("wrong usage %j: exit 2", async (flags, message) => {
  const folder = await writeDump(await plainFolder(), soundTables);
  const { code, stdout, stderr } = await runHere(["serve", folder, ...flags], { EMPTY_KEY: "" });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});

test("a folder that is not a run: exit 2", async () => {
  const folder = await plainFolder();
  for (const [path, message] of [
    [folder, "Not a finished run folder:"],
    [join(folder, "absent"), "No such run or job:"],
    [import.meta.filename, "No such run or job:"],
  ] as const) {
    const { code, stderr } = await runHere(["serve", path]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`kbdump: ${message}\n  ${path}: `)]);
  }
});

test.runIf(inFull)("a port that is taken: exit 1, and what to do", async () => {
  const folder = await writeDump(await plainFolder(), soundTables);
  const { address } = await start(folder);
  const { code, stderr } = await runHere(["serve", folder, "--port", new URL(address.base_url).port, "--quiet"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^kbdump: the service cannot listen on 127\.0\.0\.1:\d+: the port is taken/);
});

test("a dump that is not as a run left it: exit 1, with everything that is wrong", async () => {
  const folder = await writeDump(await plainFolder(), soundTables);
  await rename(join(folder, "documents.jsonl"), join(folder, "moved"));
  await writeFile(join(folder, "chunks.jsonl"), `${await readFile(join(folder, "chunks.jsonl"), "utf8")}\n`);
  const { code, stdout, stderr } = await runHere(["serve", folder]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(
    /is not sound, so it cannot be served:\n {2}chunks\.jsonl: has \d+ bytes instead of \d+\n {2}documents\.jsonl: is not there\nkbdump verify \S+ shows everything that is wrong with it\n$/,
  );
  expect((await readdir(folder)).length).toBe(6);
});
