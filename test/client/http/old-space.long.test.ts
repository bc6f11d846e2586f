import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { serve } from "../serve.js";

test("an answer that was taken is dropped soon, and does not stay until V8 looks through its old objects", async () => {
  const { url } = await serve((_request, response) => response.end('{"data":[]}'));
  const script = join(import.meta.dirname, "old-space.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--expose-gc",
    "--max-semi-space-size=1",
    script,
    url,
  ]);
  expect(Number(stdout)).toBeLessThan(300); // it would be 1,800 if each answer kept the next one alive
});
