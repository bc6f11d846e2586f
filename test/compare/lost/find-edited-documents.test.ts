import { expect, it } from "vitest";
import { JobDatabase } from "../../database/job-database.js";
import * as sound from "../../verify/sound-tables.js";
import { child, chunk, dumpOf, editedDocumentsOf, tablesOf } from "./lost-dumps.js";

const off = { enabled: false };
const rows = {
  untouched: [chunk("untouched", "u1", 1, "a")],
  edited: [chunk("edited", "e1", 1, "a"), chunk("edited", "e2", 2, "b", { updated_by: "ann" })],
  disabled: [chunk("disabled", "d1", 1, "a", { ...off, disabled_by: "ann" })],
  failed: [chunk("failed", "f1", 1, "a", { ...off, status: "error" })],
  enabledAgain: [chunk("enabledAgain", "n1", 1, "a", { disabled_by: "ann" })],
  children: [chunk("children", "p1", 1, "a")],
  slow: [chunk("slow", "s1", 1, "a"), chunk("slow", "s2", 2, "a", { created_at: "2025-03-06T05:00:00Z" })],
  late: [chunk("late", "l1", 1, "a"), chunk("late", "l2", 2, "a", { created_at: "2025-03-06T05:00:00Z" })],
  history: [chunk("history", "h1", 1, "a", { keywords: ["mine"] })],
};
const bare = tablesOf(
  Object.values(rows).flat(),
  [child("children", "p1", "k1", "x", "customized"), child("untouched", "u1", "k2", "x")],
  { late: { status: "unstable" } },
);
/** The indexing of one document ended before its last chunk was made, that of another one then. */
const tables = {
  ...bare,
  datasets: [sound.settings("d")],
  document_details: [
    sound.details("slow", { completed_at: "2025-03-06T05:00:00Z" }),
    sound.details("late", { completed_at: "2025-03-06T04:59:59Z" }),
  ],
};
const run = "20250306T060000000Z";

it("finds the documents that people worked on, in the order of the run", async () => {
  const { documents, warnings } = await editedDocumentsOf(await dumpOf(tables, run));
  expect(warnings).toEqual([]);
  const fine = { dataset_id: "d", doc_form: "text_model", has_children: false, refused: null };
  expect(documents).toEqual([
    { ...fine, document_id: "edited" },
    { ...fine, document_id: "disabled" },
    { ...fine, document_id: "children", has_children: true },
    { ...fine, document_id: "late", refused: "The older run did not read all of it: it is unstable." },
  ]);
  const { documents: withoutDetails } = await editedDocumentsOf(await dumpOf(bare, run));
  expect(withoutDetails.map(({ document_id }) => document_id)).toEqual(["edited", "disabled", "children"]);
});

it("finds those that the history alone knows, too, as of that run", async () => {
  const database = await JobDatabase.create();
  await database.run("20250306T050000000Z", tablesOf([chunk("history", "h1", 1, "a", { keywords: ["machine"] })]));
  await database.run(run, tables);
  const later = rows.untouched.map((row) => ({ ...row, content: "edited later" }));
  await database.run("20250306T070000000Z", tablesOf(later));
  const { documents } = await editedDocumentsOf(await dumpOf(tables, run), { database: database.path });
  expect(documents.map(({ document_id }) => document_id)).toEqual([
    "edited",
    "disabled",
    "children",
    "late",
    "history",
  ]);
});

it("takes the documents that the owner names, and those of the chunks that the owner names", async () => {
  const dump = await dumpOf(tables, run);
  const ids = async (options: Parameters<typeof editedDocumentsOf>[1]) =>
    (await editedDocumentsOf(dump, options)).documents.map(({ document_id }) => document_id);
  expect(await ids({ documents: ["failed", "untouched"] })).toEqual(["untouched", "failed"]);
  expect(await ids({ documents: ["failed"], chunks: ["k2", "n1"] })).toEqual(["untouched", "failed", "enabledAgain"]);
  expect(await ids({ chunks: ["u1"] })).toEqual(["untouched", "edited", "disabled", "children", "late"]);
});

it("names every id that the run does not have", async () => {
  const dump = await dumpOf(tables, run);
  await expect(
    editedDocumentsOf(dump, { documents: ["nobody", "edited"], chunks: ["e1", "\u001b[2J"] }),
  ).rejects.toThrow(`${dump.folder} does not have:\n  document nobody\n  chunk or child chunk \\u001b[2J`);
});
