import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readKey, sourceOfKey } from "../../src/job/read-key.js";
import { jobFolder, usageError } from "./job-folder.js";

const { folder, write } = await jobFolder();
const fromVariable = { apiKeyEnv: "MY_KEY" };
const fromFile = (name: string) => ({ apiKeyEnv: "MY_KEY", apiKeyFile: join(folder, name) });

test("reads the variable, without white space around it", async () => {
  expect(await readKey(fromVariable, { MY_KEY: " dataset-abc\n" })).toBe("dataset-abc");
});

test("reads the file, which overrides the variable", async () => {
  await write("dataset-abc\r\n", "key.txt");
  expect(await readKey(fromFile("key.txt"), { MY_KEY: "other" })).toBe("dataset-abc");
});

test.each<readonly [NodeJS.ProcessEnv, string]>([
  [{}, "no key: the variable MY_KEY is not set. Set it: export MY_KEY=…"],
  [{ MY_KEY: " " }, "no key: the variable MY_KEY is empty. Put the key of the service there"],
  ...["Bearer tell-nobody", "tell-nobody\ntell-nobody", "tell-nobodý", "tell-nobody\u0000"].map(
    (key) =>
      [
        { MY_KEY: key },
        "the key in the variable MY_KEY cannot be sent: it holds white space or characters that are not ASCII. " +
          'Put the key alone there, without "Bearer"',
      ] as const,
  ),
])("refuses %j and does not show it", async (env, message) => {
  expect((await usageError(readKey(fromVariable, env))).message).toBe(message);
});

test.each([
  ["none.txt", "", 'cannot read the key file "/none.txt": there is no such file'],
  ["empty.txt", "\n", 'no key: the key file "/empty.txt" is empty. Put the key of the service there'],
])("refuses %s", async (name, text, message) => {
  if (text) await write(text, name);
  expect((await usageError(readKey(fromFile(name), {}))).message.replace(folder, "")).toBe(message);
});

test.each([
  [0o600, false],
  [0o400, false],
  [0o640, true],
  [0o604, true],
])("of a key file of mode %o is warned: %s", async (mode, isWarned) => {
  const file = await write("dataset-abc", "mode.txt");
  await chmod(file, mode);
  const warnings: string[] = [];
  expect(await readKey(fromFile("mode.txt"), {}, { warn: (text) => warnings.push(text) })).toBe("dataset-abc");
  const warning = `the key file ${JSON.stringify(file)} can be read by others; chmod 600 ${JSON.stringify(file)}`;
  expect(warnings).toEqual(isWarned ? [warning] : []);
});

test("runs the command, which overrides everything, with the given environment", async () => {
  const service = { ...fromFile("none.txt"), apiKeyCommand: ["sh", "-c", 'echo "  $1$SECRET  "', "sh", "dataset-"] };
  expect(await readKey(service, { PATH: process.env.PATH, SECRET: "abc", MY_KEY: "other" })).toBe("dataset-abc");
});

test.each([
  ["exit 0", 'no key: the key command "sh" printed nothing'],
  [
    "echo Bearer tell-nobody",
    'the key in the output of the key command "sh" cannot be sent: it holds white space or characters that are not ASCII. ' +
      'Put the key alone there, without "Bearer"',
  ],
])("refuses what %s prints", async (script, message) => {
  const service = { ...fromVariable, apiKeyCommand: ["sh", "-c", script] };
  expect((await usageError(readKey(service, process.env))).message).toBe(message);
});

test.each([
  [fromVariable, "the variable MY_KEY"],
  [{ ...fromVariable, apiKeyFile: "a b" }, 'the key file "a b"'],
  [{ ...fromVariable, apiKeyCommand: ["pass", "show", "x"] }, 'the key command "pass"'],
])("the key of %j comes from %s", (service, place) => expect(sourceOfKey(service)).toBe(place));
