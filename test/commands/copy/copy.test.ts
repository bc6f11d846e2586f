import { expect, test } from "vitest";
import type { CopyOptions, CopyResult, CopyRun } from "../../../src/restore/copy/copy-result.js";
import { openTerminalHere } from "../../cli/terminal-here.js";
import { keys } from "../../pseudo-terminal.js";
import {
  appliedOf,
  copiedOf,
  copyOf,
  datasetPlanOf,
  differenceOf,
  documentPlanOf,
  earlierOf,
} from "../../restore/copy/made-copy.js";
import { idOf } from "../../restore/lost/made-result.js";
import { restoreHere, runFolder } from "../restore/restore-here.js";

const inCapitals = "BE707760-4D1D-4F33-B3AD-F9BACE31E975";
const to = ["--to", "https://new.example.com/v1"];
const datasets = [datasetPlanOf([documentPlanOf(1), documentPlanOf(2)])];
const copied = copyOf(datasets, { applied: appliedOf([copiedOf(1), copiedOf(2)]), differences: [] });

interface Given {
  readonly result?: CopyResult;
  readonly env?: NodeJS.ProcessEnv;
  readonly act?: (options: CopyOptions) => Promise<CopyResult>;
  readonly openTerminal?: ReturnType<typeof openTerminalHere>["openTerminal"];
}

/** Runs `copy` with a fake copy that returns this result; returns the outcome and the options that the copy received. */
async function copy(args: readonly string[], { result = copyOf(datasets), act, ...environment }: Given = {}) {
  let options: CopyOptions | undefined;
  const copyRun: CopyRun = async (received) => {
    options = received;
    return act ? act(received) : result;
  };
  const ended = await restoreHere(args, { copy: async () => copyRun }, environment);
  return { ...ended, options };
}

test("it prints its plan, with the defaults from the help", async () => {
  const folder = await runFolder();
  const { code, stdout, options } = await copy([folder, ...to]);
  expect(code).toBe(0);
  expect(stdout).toContain("\nplan: 2 documents into 1 new dataset: 24 chunks, 0 child chunks\n");
  expect(stdout).toContain(`\n  kbdump copy ${folder} ${to.join(" ")} --apply\n`);
  expect(options).toMatchObject({
    ...{ folder, baseUrl: "https://new.example.com/v1", key: "dataset-write", keyEnv: "KNOWLEDGE_RESTORE_KEY" },
    ...{ dataset: undefined, documents: [], apply: false, concurrency: 4 },
    ...{
      allowHttp: false,
      maxRps: undefined,
      timeout: 300_000,
      settle: 60_000,
      lockTime: 600_000,
      memory: "300MB",
    },
  });
});

test("every flag arrives: ids in lower case and once, times in milliseconds, the URL without a slash at its end", async () => {
  const folder = await runFolder();
  const { code, options } = await copy(
    [
      ...[folder, "--to", "http://10.0.0.5/v1/", "--allow-http", "--apply", "--yes"],
      ...["--document", `${idOf(2).toUpperCase()}, ${idOf(3)}`, "--document", idOf(2)],
      ...["--dataset", inCapitals, "--key-env", "OTHER_KEY", "--concurrency", "16", "--max-rps", "2.5"],
      ...["--timeout", "2m", "--settle", "0", "--lock-time", "20m", "--memory", "2GB"],
    ],
    { env: { OTHER_KEY: " dataset-other\n" }, result: copied },
  );
  expect(code).toBe(0);
  expect(options).toMatchObject({
    ...{ folder, baseUrl: "http://10.0.0.5/v1", allowHttp: true, apply: true },
    ...{ documents: [idOf(2), idOf(3)], dataset: inCapitals.toLowerCase(), keyEnv: "OTHER_KEY" },
    ...{
      key: "dataset-other",
      concurrency: 16,
      maxRps: 2.5,
      timeout: 120_000,
      settle: 0,
      lockTime: 1_200_000,
      memory: "2GB",
    },
  });
  expect((await copy([folder, ...to, "--dataset", "new"])).options?.dataset).toBe("new");
});

test.each<[string, readonly string[], string]>([
  ["no service", ["--dataset", "new"], "--to: missing: base URL of the service to copy to\n"],
  ["a flag of restore", [...to, "--chunk", idOf(1)], "unknown flag --chunk; kbdump copy --help lists the flags\n"],
  [
    "another dataset",
    [...to, "--dataset", "old"],
    '--dataset: got "old", expected a UUID, 8-4-4-4-12 hexadecimal digits; or new\n',
  ],
  [
    "plain http",
    ["--to", "http://10.0.0.5/v1"],
    '--to: got "http://10.0.0.5/v1", expected https, as http shows the key to the network; ',
  ],
])("%s: wrong usage, before a run is looked for", async (_name, args, says) => {
  const { code, stderr, options } = await copy(["nothing", ...args]);
  expect([code, options]).toEqual([2, undefined]);
  expect(stderr).toContain(`kbdump: ${says}`);
});

test("without a separate key, no request is sent", async () => {
  const { code, stderr, options } = await copy([await runFolder(), ...to], { env: { KNOWLEDGE_API_KEY: "read" } });
  expect([code, options]).toEqual([2, undefined]);
  expect(stderr).toContain(
    "kbdump: no key: the variable KNOWLEDGE_RESTORE_KEY is not set; restore and copy need a separate key with write access",
  );
});

test.each<[Partial<CopyResult>, number, RegExp]>([
  [{ applied: copied.applied, differences: [] }, 0, /^restored: 2 of 2 documents; proved\n/],
  [
    { applied: appliedOf([copiedOf(1), copiedOf(2, { outcome: "failed", reason: "500" })]), differences: [] },
    3,
    /^partial: 1 of 2 documents restored/,
  ],
  [
    { applied: copied.applied, differences: [differenceOf(1)] },
    4,
    /^different: 2 of 2 documents restored, but the proof found 1 difference\n/,
  ],
])("%j: exit %d", async (more, exit, begins) => {
  const result = copyOf(datasets, { ...more, warnings: ["the clock jumped"] });
  const args = [await runFolder(), ...to, "--apply", "--yes"];
  const { code, stdout, stderr } = await copy(args, { result });
  expect(code).toBe(exit);
  expect(stdout).toMatch(begins);
  expect(stderr).toMatch(/^\d\d:\d\d:\d\d warning: the clock jumped\n$/);
  const { stdout: json } = await copy([...args, "--json"], { result });
  expect(JSON.parse(json)).toEqual(result);
});

/** A fake copy that shows this plan and is done if the user answers yes. */
const asking = (planned: CopyResult) => async (options: CopyOptions) =>
  (await options.confirm(planned)).go ? copied : planned;

test("off a terminal, --apply needs --yes, with which nothing is asked", async () => {
  const args = [await runFolder(), ...to, "--apply"];
  const refused = await copy(args);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(
    "--apply: there is no terminal for the confirmation; look at the plan without --apply",
  );
  const { code, stderr } = await copy([...args, "--yes"], { act: asking(copyOf(datasets)) });
  expect([code, stderr]).toEqual([0, ""]);
});

test("at a terminal, --apply shows the plan and asks once; no is the first answer, and writes nothing", async () => {
  const args = [await runFolder(), ...to, "--apply"];
  const act = asking(copyOf(datasets));
  const yes = openTerminalHere([keys.down, keys.enter]);
  const done = await copy(args, { act, openTerminal: yes.openTerminal });
  expect(done.code).toBe(0);
  expect(done.stderr).toMatch(
    /^Run 20261119T020000123Z of job nightly, .*\nplan: 2 documents into 1 new dataset: .*the stub.*\.\n\n$/s,
  );
  expect(yes.text()).toContain("Send 7 write requests or more to new.example.com?");
  expect(yes.text()).toContain("Yes, restore 2 documents");
  const no = openTerminalHere([keys.enter]);
  const stopped = await copy(args, { act, openTerminal: no.openTerminal });
  expect([stopped.code, stopped.stdout]).toEqual([130, ""]);
  expect(stopped.stderr).toMatch(/\nkbdump: stopped, as you answered no: nothing of this plan was written\n$/);
});

test("if everything exists and only needs a proof, it asks nothing", async () => {
  const there = [datasetPlanOf([documentPlanOf(1, { earlier: earlierOf("restored") })])];
  const terminal = openTerminalHere([]);
  const { code, stderr } = await copy([await runFolder(), ...to, "--apply"], {
    act: asking(copyOf(there)),
    openTerminal: terminal.openTerminal,
  });
  expect([code, stderr, terminal.text()]).toEqual([0, "", ""]);
});
