import { expect, test } from "vitest";
import { checkWishes } from "../../../src/restore/copy/plan-copy.js";
import { chunk, dumpOf, tablesOf } from "../../compare/lost/lost-dumps.js";
import * as sound from "../../verify/sound-tables.js";

const tables = tablesOf([chunk("a", "a1", 1, "text")]);
const detailed = { ...tables, datasets: [sound.settings("d")], document_details: [sound.details("a")] };
const run = "20250306T132000000Z";

test("a dump with details and exact texts is fit", async () => {
  const dump = await dumpOf(detailed, run);
  checkWishes(dump, { documents: ["a"] });
});

const noDetails = { path: "", message: "it has no details: run the job with details: true; a copy needs the settings" };

test("every problem is reported at once", async () => {
  const dump = await dumpOf(tables, run, { formats: ["csv"], csvSafe: true });
  expect(() => checkWishes(dump, { documents: ["a", "b\n"] })).toThrow(
    expect.objectContaining({
      name: "UsageError",
      problems: [
        noDetails,
        { path: "", message: expect.stringContaining("csv_safe changes them") },
        { path: "--document", message: "the run has no document b\\u000a" },
      ],
    }),
  );
});
