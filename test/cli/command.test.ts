import { expect, expectTypeOf, test } from "vitest";
import { commands, runCommandLine } from "../../src/cli/cli.js";
import { commonOptions, defineCommand } from "../../src/cli/command.js";
import type { Registry } from "../../src/cli/registry.js";
import { UsageError } from "../../src/errors.js";

const readPause = (given: string, path: string) =>
  /^\d+$/.test(given) ? Number(given) : { path, message: "expected digits" };

/** A complete command, written as in a command file. */
const greetCommand = defineCommand({
  name: "greet <name> [more..]",
  about: "greet people",
  positionals: {
    name: { type: "string", demandOption: true, describe: "whom to greet" },
    more: { type: "string", array: true, describe: "further people" },
  },
  options: {
    ...commonOptions,
    "how-often": { type: "string", default: "1", describe: "times" },
    friend: { type: "string", array: true, describe: "friends" },
    shout: { type: "boolean", alias: "s", conflicts: "tone", describe: "in capitals" },
    tone: { choices: ["warm", "cool"], describe: "tone of the greeting" },
    pause: { value: "N", needs: "friend", read: readPause, describe: "seconds between greetings" },
  },
  results: () => ({}),
  epilog: "Exit codes: 0 nobody else · 4 others were greeted, too",
  check: ({ friend, pause }) => (friend?.[1] && pause === 0 ? [{ path: "--pause", message: "too short" }] : []),
  async run({ name, more, howOften, friend, shout, tone, pause, json }, environment) {
    expectTypeOf(name).toEqualTypeOf<string>();
    expectTypeOf(more).toEqualTypeOf<string[] | undefined>();
    expectTypeOf(howOften).toEqualTypeOf<string>();
    expectTypeOf(friend).toEqualTypeOf<string[] | undefined>();
    expectTypeOf(shout).toEqualTypeOf<boolean | undefined>();
    expectTypeOf(tone).toEqualTypeOf<"warm" | "cool" | undefined>();
    expectTypeOf(pause).toEqualTypeOf<number | undefined>();
    expectTypeOf(json).toEqualTypeOf<boolean>();
    if (name === "nobody") throw new UsageError("Nobody is there:", []);
    environment.stdout.write(`${JSON.stringify({ name, more, howOften, friend, shout, tone, pause, json })}\n`);
    return more?.length ? 4 : 0;
  },
});

const registry: Registry = {
  names: () => [...commands.names(), "greet"],
  load: async (name) => (name === "greet" ? greetCommand : commands.load(name)),
};

async function run(...args: readonly string[]) {
  let stdout = "";
  const output = { write: (text: string) => (stdout += text) };
  const environment = {
    program: () => "kbdump",
    stdout: output,
    stderr: output,
    env: {},
    signal: AbortSignal.any([]),
    interrupt: () => {},
    committing: () => {},
  };
  const code = await runCommandLine(args, environment, registry);
  return { code, stdout };
}

test("a command gets its arguments as declared, and its result is the exit code", async () => {
  const { code, stdout } = await run("greet", "Ada", "--how-often", "3", "--tone", "warm");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ name: "Ada", more: [], howOften: "3", tone: "warm", json: false });
  expect(await run("greet", "Ada", "Grace", "--how-often=2", "--json")).toEqual({
    code: 4,
    stdout: '{"name":"Ada","more":["Grace"],"howOften":"2","json":true}\n',
  });
  expect(await run("--json", "greet", "-s", "--friend", "A", "Ada", "--friend=B", "--no-json")).toEqual({
    code: 0,
    stdout: '{"name":"Ada","more":[],"howOften":"1","friend":["A","B"],"shout":true,"json":false}\n',
  });
});

test("an option is read where it is declared, and says which other one it needs", async () => {
  expect(JSON.parse((await run("greet", "Ada", "--friend=B", "--pause=3")).stdout)).toMatchObject({ pause: 3 });
  await expect(run("greet", "Ada", "--pause=3")).rejects.toThrow("--pause: only together with --friend");
  await expect(run("greet", "Ada", "--friend=B", "--pause=x")).rejects.toThrow("--pause: expected digits");
  await expect(run("greet", "Ada", "--friend=B", "--friend=C", "--pause=0")).rejects.toThrow("--pause: too short");
  expect((await run("greet", "--help")).stdout).toContain("with --friend: seconds between greetings");
});

test("help lists a command among the others, with its arguments, and runs nothing", async () => {
  const all = await run("--help");
  expect(all).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/kbdump greet <name> \[more\.\.\] +greet people\n/),
  });
  for (const name of commands.names()) expect(all.stdout).toContain(`  kbdump ${name} `);
  const one = await run("greet", "Ada", "--help");
  expect(one.code).toBe(0);
  for (const text of ["kbdump greet <name> [more..]\n", "whom to greet", "--how-often", "4 others were greeted"])
    expect(one.stdout).toContain(text);
  expect(one.stdout).not.toContain("Ada");
});

test("a wrong argument and an error of the command reject", async () => {
  await expect(run("greet")).rejects.toThrow("<name> is missing: whom to greet");
  await expect(run("greet", "Ada", "--tone", "shrill")).rejects.toThrow('--tone: got "shrill", expected warm or cool');
  await expect(run("greet", "Ada", "--loud")).rejects.toThrow(
    "unknown flag --loud; kbdump greet --help lists the flags",
  );
  await expect(run("gret", "Ada")).rejects.toThrow("unknown command gret; did you mean greet?");
  await expect(run("greet", "nobody")).rejects.toThrow("Nobody is there:");
});
