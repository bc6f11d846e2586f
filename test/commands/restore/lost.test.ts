import { expect, test } from "vitest";
import { InterruptedError } from "../../../src/errors.js";
import type { RestoreLost, RestoreOptions, RestoreResult } from "../../../src/restore/lost/restore-options.js";
import { appliedOf, documentOf, idOf, listedOf, restoreOf, resultOf } from "../../restore/lost/made-result.js";
import { restoreHere, runFolder } from "./restore-here.js";

const lost = documentOf({ restores: [restoreOf(1)], listed: [listedOf(2, { why: "found inside" })] });

/**
 * Runs `restore` outside a terminal with a fake restore that returns this result; returns the outcome and the options
 * that the restore received.
 */
async function restore(
  args: readonly string[],
  {
    result = resultOf([lost]),
    given,
    act = async () => {},
  }: {
    readonly result?: RestoreResult;
    readonly given?: NodeJS.ProcessEnv;
    readonly act?: (options: RestoreOptions) => Promise<unknown>;
  } = {},
) {
  let options: RestoreOptions | undefined;
  const restoreLost: RestoreLost = async (received) => {
    options = received;
    await act(received);
    return result;
  };
  const ended = await restoreHere(args, { lost: async () => restoreLost }, given ? { env: given } : {});
  return { ...ended, options };
}

test("without --apply, the plan is printed, with the defaults from the help", async () => {
  const folder = await runFolder();
  const { code, stdout, options } = await restore([folder]);
  expect(code).toBe(0);
  expect(stdout).toContain(`\nplan: 1 row to write: 1 chunk added\n`);
  expect(stdout).toContain(`\n  kbdump restore ${folder} --apply\n`);
  expect(options).toMatchObject({
    folder,
    against: undefined,
    documents: [],
    addManualEdits: false,
    plan: undefined,
    planOut: undefined,
    apply: false,
    to: undefined,
    keyEnv: "KNOWLEDGE_RESTORE_KEY",
    key: "dataset-write",
    allowHttp: false,
    concurrency: undefined,
    maxRps: undefined,
    timeout: 300_000,
    settle: 60_000,
    lockTime: 600_000,
    memory: "300MB",
  });
});

test("every flag arrives: ids in lower case and once, times in milliseconds, the key without blanks", async () => {
  const [folder, against] = [await runFolder(), await runFolder("new")];
  const { code, options } = await restore(
    [
      ...[folder, "--against", against, "--apply", "--yes", "--manual-edits", "--allow-http"],
      ...["--document", `${idOf(2).toUpperCase()}, ${idOf(3)}`, "--document", idOf(2)],
      ...["--to", "http://10.0.0.5/v1", "--key-env", "OTHER_KEY", "--concurrency", "4", "--max-rps", "2.5"],
      ...["--timeout", "2m", "--settle", "0", "--lock-time", "20m", "--memory", "2GB"],
    ],
    {
      given: { OTHER_KEY: " dataset-other\n" },
      result: resultOf([lost], { applied: { rows: [appliedOf(1)], writes: 1 }, differences: [] }),
    },
  );
  expect(code).toBe(0);
  expect(options).toMatchObject({
    ...{ folder, against, apply: true, addManualEdits: true, allowHttp: true, to: "http://10.0.0.5/v1" },
    ...{ documents: [idOf(2), idOf(3)], keyEnv: "OTHER_KEY", key: "dataset-other" },
    ...{
      concurrency: 4,
      maxRps: 2.5,
      timeout: 120_000,
      settle: 0,
      lockTime: 1_200_000,
      memory: "2GB",
    },
  });
});

test("a plan against a newer run needs no key; with --apply it does", async () => {
  const [folder, against] = [await runFolder(), await runFolder("new")];
  const plan = [folder, "--against", against];
  expect(await restore(plan, { given: {} })).toMatchObject({ code: 0, options: { against, key: undefined } });
  const refused = await restore([...plan, "--apply", "--yes"], { given: { KNOWLEDGE_API_KEY: "dataset-read" } });
  expect(refused).toMatchObject({ code: 2, options: undefined });
  expect(refused.stderr).toBe(
    "kbdump: no key: the variable KNOWLEDGE_RESTORE_KEY is not set; restore and copy need a separate key with write access. Set it: export KNOWLEDGE_RESTORE_KEY=…\n",
  );
});

test("every problem of the line is reported at once, before a run is looked for", async () => {
  const wrong = ["--document", `${idOf(1)},x`, "--to", "nowhere", "--concurrency", "0", "--max-rps", "0"];
  const more = ["--timeout", "soon", "--settle", "2h", "--memory", "lots", "--key-env", "dataset-0123456789abcdefghij"];
  const { code, stderr, options } = await restore(["nothing", ...wrong, ...more, "--apply"]);
  expect([code, options]).toEqual([2, undefined]);
  expect(stderr).toBe(`kbdump: 9 problems with the command line:
  --timeout: got "soon", expected seconds, or a time such as 30s, 10m or 2h, from 1 s to 1 h
  --settle: got "2h", expected seconds, or a time such as 30s, 10m or 2h, from 0 s to 1 h
  --memory: got "lots", expected a size such as 800MB or 2GB
  --document: got "x", expected a UUID, 8-4-4-4-12 hexadecimal digits
  --to: got "nowhere", expected an http or https URL such as https://kb.example.com/v1, without user, password, query or fragment
  --key-env: got a value that is not shown, expected the name of an environment variable that holds the key, not the key itself
  --concurrency: got 0, expected a whole number from 1 to 64
  --max-rps: got 0, expected a number above 0, at most 10000
  --apply: there is no terminal for the confirmation; look at the plan without --apply first, then add --yes to write it
`);
});

test("the paths of plan files reach the restore; contradictory ones are a usage error", async () => {
  const folder = await runFolder();
  const { options } = await restore([folder, "--plan", "plan.yaml"]);
  expect(options).toMatchObject({ plan: "plan.yaml", planOut: undefined, addManualEdits: false, apply: false });
  expect(await restore([folder, "--plan-out", "out.yaml", "--manual-edits"])).toMatchObject({
    code: 0,
    options: { plan: undefined, planOut: "out.yaml", addManualEdits: true },
  });
  const wrong = [folder, "--plan", "plan.yaml", "--manual-edits", "--plan-out", "out.yaml", "--apply", "--yes"];
  expect(await restore(wrong)).toEqual({
    code: 2,
    stdout: "",
    options: undefined,
    stderr: `kbdump: 2 problems with the command line:
  --manual-edits: a plan file decides on every row: say yes to those rows in it, or leave out --plan
  --plan-out: write the plan first, without --apply
`,
  });
});

test.each<[Partial<RestoreResult>, number, RegExp]>([
  [{ applied: { rows: [appliedOf(1)], writes: 1 }, differences: [] }, 0, /^restored: 1 of 1; proved\n/],
  [
    { applied: { rows: [appliedOf(1, { outcome: "failed" })], writes: 1 }, differences: [] },
    3,
    /^partial: 0 of 1 restored/,
  ],
  [
    {
      applied: { rows: [appliedOf(1)], writes: 1 },
      differences: [{ document_id: "d", level: "chunk", id: "c", position: 1, reason: "twice" }],
    },
    4,
    /^different: 1 of 1 restored, but the proof found 1 difference\n/,
  ],
])("%j: exit %d", async (more, exit, begins) => {
  const result = resultOf([lost], { ...more, warnings: ["the clock jumped"] });
  const args = [await runFolder(), "--apply", "--yes"];
  const { code, stdout, stderr } = await restore(args, { result });
  expect(code).toBe(exit);
  expect(stdout).toMatch(begins);
  expect(stderr).toMatch(/^\d\d:\d\d:\d\d warning: the clock jumped\n$/);
  const { stdout: json } = await restore([...args, "--json"], { result });
  expect(JSON.parse(json)).toEqual(result);
});

test("with --yes, nothing is asked", async () => {
  const answers: unknown[] = [];
  const act = async ({ confirm }: RestoreOptions) => answers.push(await confirm(resultOf([lost])));
  await restore([await runFolder(), "--apply", "--yes"], { act });
  expect(answers).toEqual([{ go: true, decisions: undefined }]);
});

test("a plan that was to be written, and was not, exits as after Ctrl-C", async () => {
  const { code, stdout, stderr } = await restore([await runFolder(), "--apply", "--yes"]);
  expect([code, stdout, stderr]).toEqual([
    130,
    "",
    "kbdump: stopped, as you answered no: nothing of this plan was written\n",
  ]);
});

test("an interrupted restore says that the same command continues, once it writes", async () => {
  const folder = await runFolder();
  const interrupted = (step: RestoreOptions["progress"]["step"]) =>
    restore([folder, "--apply", "--yes"], {
      act: async ({ progress }) => {
        progress.step = step;
        throw new InterruptedError("SIGTERM");
      },
    });
  expect(await interrupted("planning")).toMatchObject({ code: 143, stderr: "kbdump: interrupted by SIGTERM\n" });
  expect(await interrupted("writing")).toMatchObject({
    code: 143,
    stderr: "kbdump: interrupted by SIGTERM; what was written is in the journal; run the same command to continue\n",
  });
});
