import { join } from "node:path";
import { expect, test } from "vitest";
import { runKeyCommand } from "../../src/job/read-key.js";
import { jobFolder, usageError } from "./job-folder.js";

const { folder, write } = await jobFolder();
const env = { PATH: process.env.PATH };
const shell = (script: string) => ["sh", "-c", script];

test("returns the output of the program, and passes its arguments unchanged", async () => {
  expect(await runKeyCommand(["printf", "%s|", "a b", "$HOME", "*"], { env })).toBe("a b|$HOME|*|");
});

test.each([
  [
    "fails",
    shell("echo tell-nobody; echo tell-nobody >&2; exit 3"),
    'the key command "sh" failed with exit code 3. Run it yourself to see why',
  ],
  ["is killed", shell("echo tell-nobody; kill -TERM $$"), 'the key command "sh" was ended by SIGTERM'],
  [
    "is not there",
    ["no-such-program", "tell-nobody"],
    'cannot run the key command "no-such-program": there is no such program. Give its full path, or correct PATH',
  ],
  ["is a folder", [folder], `cannot run the key command ${JSON.stringify(folder)}: it is not executable`],
])("a command that %s is wrong usage, and nothing of its output is shown", async (_, command, message) => {
  const error = await usageError(runKeyCommand(command, { env }));
  expect(error.message).toBe(message);
  expect(JSON.stringify(error)).not.toContain("tell-nobody");
});

test("a file that is not executable is an error", async () => {
  const file = await write("#!/bin/sh\necho dataset-abc\n", "key.sh");
  expect((await usageError(runKeyCommand([join(folder, "key.sh")], { env }))).message).toBe(
    `cannot run the key command ${JSON.stringify(file)}: it is not executable`,
  );
});

test("a command that takes too long is ended, and its child processes do not delay that", async () => {
  const error = await usageError(runKeyCommand(shell("sleep 2 & echo $!; wait"), { env, timeout: 50 }));
  expect(error.message).toBe('the key command "sh" did not end within 0.05 s');
});

test("a signal ends it, for the reason of the signal", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("enough")), 20);
  await expect(runKeyCommand(["sleep", "600"], { env, signal: stop.signal })).rejects.toThrow("enough");
});
