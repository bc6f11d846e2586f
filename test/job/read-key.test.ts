import { join } from "node:path";
import { expect, test } from "vitest";
import { readKey } from "../../src/job/read-key.js";
import { jobFolder, usageError } from "./job-folder.js";

const { folder, write } = await jobFolder();
const fromVariable = { apiKeyEnv: "MY_KEY", apiKeyFile: undefined };
const fromFile = (name: string) => ({ apiKeyEnv: "MY_KEY", apiKeyFile: join(folder, name) });

test("reads the variable, without white space around it", async () => {
  expect(await readKey(fromVariable, { MY_KEY: " dataset-abc\n" })).toBe("dataset-abc");
});

test("reads the file, which comes before the variable", async () => {
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
