import { join } from "node:path";
import { expect, test } from "vitest";
import { runKbdump } from "../cli/run-kbdump.js";
import { testFolder } from "../run/job-for.js";

test("kbdump demo runs the main job on sample data, without a key, and verify finds it sound", async () => {
  const folder = await testFolder();
  const { code, stdout } = await runKbdump(["demo", "--format", "jsonl", "--json", "--quiet"], {}, folder);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { job: "demo", status: "complete", counts: { documents: 13 } }]);
  const verified = await runKbdump(["verify", "demo"], {}, folder);
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sound: /m) });
  expect((await runKbdump(["demo", "x"], {}, folder)).stderr).toContain('unexpected argument "x"');
  expect((await runKbdump(["list", "--out", join(folder, "output")], {}, folder)).stdout).toMatch(/^demo /m);
});
