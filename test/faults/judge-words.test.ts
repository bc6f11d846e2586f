import { expect, test } from "vitest";
import { type Found, falseWords, unclaimedRuns } from "./judge-words.js";

const [earlier, run] = ["20261120T020000123Z", "20261121T020000123Z"];
const there: Found = {
  runs: [earlier, run],
  sound: [earlier, run],
  complete: [earlier, run],
  latest: { run },
  database: { runs: [earlier, run] },
};
const without: Found = { ...there, latest: { run: earlier }, database: { runs: [earlier] } };
const nothing: Found = { ...without, runs: [earlier], sound: [earlier], complete: [earlier] };

const complete = { code: 0, stdout: `{"run_id":"${run}","since":"${earlier}"}\n`, stderr: "" };
const failed = { code: 1, stdout: '{"status":"failed","exit_code":1}\n', stderr: "kbdump: the disk is full: /x\n" };
const partial = (stderr: string) => ({ code: 3, stdout: `{"run_id":"${run}"}\n`, stderr });
const notMoved = "kbdump: run is published, but latest and the database could not be replaced\n";

test.each([
  ["complete, and it is", complete, there, []],
  ["complete, but not there", complete, nothing, [/not in runs/, /latest leads/, /database does not have/]],
  ["complete, but not sound", complete, { ...there, sound: [earlier], complete: [earlier] }, [/is not complete/]],
  ["complete, but latest is not moved", complete, { ...there, latest: { run: earlier } }, [/latest leads/]],
  ["complete, but latest leads nowhere", complete, { ...there, latest: { problem: "gone" } }, [/latest leads/]],
  ["failed, and nothing is there", failed, nothing, []],
  ["partial, and says why", partial(notMoved), without, []],
  ["partial, and a document failed", partial("kbdump: 1 failed\n"), { ...without, complete: [earlier] }, []],
  ["partial, without a word", partial("hm\n"), there, [/names neither/]],
  ["partial, half the truth", partial("kbdump: latest was not moved\n"), without, [/database lacks/]],
  ["partial, but not there", partial(notMoved), nothing, [/not in runs/]],
  ["busy", { ...failed, code: 5, stdout: "{}", stderr: "another run of this job is active" }, nothing, []],
  ["busy with what?", { ...failed, code: 5, stdout: "{}" }, nothing, [/must not end with 5/]],
  ["killed", { code: null, stdout: "{}", stderr: "x" }, nothing, [/must not end with null/]],
  ["another code in the JSON", { ...failed, stdout: '{"exit_code":3}' }, nothing, [/exit_code 3, it is 1/]],
  ["no JSON", { ...failed, stdout: "" }, nothing, [/not a JSON/]],
  ["a stack", { ...failed, stderr: "kbdump: x\n    at f (a.js:1:2)\n" }, nothing, [/a stack/]],
  ["a bare ENOENT", { ...failed, stderr: "kbdump: ENOENT: no such file" }, nothing, [/bare ENOENT/]],
])("%s", (_, end, found, problems) => {
  const words = falseWords({ name: "A", pid: 1, ...end }, found);
  expect(words).toEqual(problems.map((problem) => expect.stringMatching(problem)));
});

test("finds a run that no program mentions", () => {
  const end = { name: "A", pid: 1, ...failed };
  expect(unclaimedRuns([end], there, [earlier])).toEqual([`runs/${run} is there, and no program says so`]);
  expect(unclaimedRuns([{ ...end, ...complete }], there, [earlier])).toEqual([]);
});
