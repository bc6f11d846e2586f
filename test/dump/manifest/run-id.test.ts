import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunId, newRunId, runIdFrom } from "../../../src/dump/run-id.js";
import { testFolder } from "../../run/job-for.js";

const now = new Date("2026-11-20T02:00:00.123Z");

/** The id of a run that starts now, if these folders exist. */
async function idBeside(...names: readonly string[]): Promise<string> {
  const runs = await testFolder();
  for (const name of names) await mkdir(join(runs, name));
  return newRunId(runs, now);
}

test("a run is named after its time", async () => {
  expect(await idBeside()).toBe("20261120T020000123Z");
  expect(await idBeside("20261120T020000122Z", "notes")).toBe("20261120T020000123Z");
  expect(await newRunId(join(await testFolder(), "none"), now)).toBe(runIdFrom(now));
});

test("a run sorts after every other one, even after a wrong clock or among strange folders", async () => {
  expect(await idBeside("20261120T020000123Z")).toBe("20261120T020000124Z");
  expect(await idBeside("20261231T235959999Z", "20251120T020000123Z")).toBe("20270101T000000000Z");
  expect(await idBeside("20269999T999999999Z")).toBe("20261120T020000123Z");
  expect(await idBeside("99991231T235959999Z")).toBe("20261120T020000123Z");
  expect(isRunId(await idBeside("20261120T020000123Z"))).toBe(true);
});
