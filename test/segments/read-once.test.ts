import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { listOf, text } from "../../src/schema.js";
import { readOnce } from "../../src/segments/resume.js";
import { testFolder } from "../run/job-for.js";

const schema = listOf(text);
const isWhole = () => true;

test("an answer is requested once, and one that is too long for a file each time", async () => {
  const folder = await testFolder();
  let asked = 0;
  const ask = (answer: string) =>
    readOnce(folder, "discovery", {
      schema,
      isWhole,
      read: async () => {
        asked++;
        return [answer];
      },
    });
  expect([await ask("a"), await ask("b"), asked]).toEqual([["a"], ["a"], 1]);

  const other = await testFolder();
  const read = async () => {
    asked++;
    const answer = ["c"];
    const toJSON = () => {
      throw new RangeError("Invalid string length"); // V8's error, without the time to build such a string
    };
    return Object.assign(answer, { toJSON });
  };
  for (const times of [2, 3]) {
    expect([...(await readOnce(other, "discovery", { schema, isWhole, read }))]).toEqual(["c"]);
    expect(asked).toBe(times);
  }
  expect(await readdir(other)).toEqual([]);
});
