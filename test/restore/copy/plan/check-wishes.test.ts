import { expect, test } from "vitest";
import { noFacts } from "../../../../src/restore/copy/copy-result.js";
import { checkWishes, type Wishes } from "../../../../src/restore/copy/plan/plan-copy.js";
import { chunk, dumpOf, tablesOf } from "../../../compare/lost/lost-dumps.js";
import * as sound from "../../../verify/sound-tables.js";

const wishes: Wishes = { documents: [], dataset: undefined, from: "chunks", facts: noFacts };
const begun = { ...noFacts, from: "originals" } as const;
const tables = tablesOf([chunk("a", "a1", 1, "text")]);
const detailed = { ...tables, datasets: [sound.settings("d")], document_details: [sound.details("a")] };
const run = "20250306T132000000Z";

test("a dump with details and exact texts is fit", async () => {
  const dump = await dumpOf(detailed, run);
  checkWishes(dump, { ...wishes, documents: ["a"] });
  checkWishes(dump, { ...wishes, from: "originals", facts: begun });
  checkWishes(dump, { ...wishes, dataset: "new", facts: begun });
});

const noDetails = { path: "", message: "it has no details: run the job with details: true; a move needs the settings" };

test("every problem is reported at once", async () => {
  const dump = await dumpOf(tables, run, { formats: ["csv"], csvSafe: true });
  expect(() => checkWishes(dump, { ...wishes, documents: ["a", "b\n"], facts: begun })).toThrow(
    expect.objectContaining({
      name: "UsageError",
      problems: [
        noDetails,
        { path: "", message: expect.stringContaining("csv_safe changes them") },
        { path: "--document", message: "the run has no document b\\u000a" },
        {
          path: "--from",
          message: expect.stringContaining("begun with --from originals: go on with that, or make another"),
        },
      ],
    }),
  );
});

test("originals need details, and no texts of chunks", async () => {
  const dump = await dumpOf(tables, run);
  expect(() => checkWishes(dump, { ...wishes, from: "originals" })).toThrow(
    expect.objectContaining({ problems: [noDetails] }),
  );
  const guarded = await dumpOf(detailed, run, { formats: ["csv"], csvSafe: true });
  expect(() => checkWishes(guarded, { ...wishes, from: "originals" })).toThrow("csv_safe changes them");
});
