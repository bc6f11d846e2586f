import fc from "fast-check";
import { expect, test } from "vitest";
import { type FileFormat, fileFormats } from "../../../src/dump/formats/formats.js";
import { tablesOf } from "../../../src/dump/manifest.js";
import { openDump } from "../../../src/dump/open-dump.js";
import { verifyRun } from "../../../src/verify/verify-run.js";
import { rounds } from "../../rounds.js";
import { makeDocument, Store } from "../../servers/store.js";
import { duckDbOptions } from "../formats/formats.js";
import { addDataset, startDatasets } from "./datasets.js";

/** The number of rounds of two runs each; KBDUMP_PARTITION_ROUNDS overrides it. */
const numRuns = rounds(1, 40, "KBDUMP_PARTITION_ROUNDS");
const kinds = ["chunks", "child_chunks"] as const;

const document = fc.record({
  chunks: fc.nat({ max: 4 }),
  childrenPerChunk: fc.nat({ max: 2 }),
  docForm: fc.constantFrom("text_model", "hierarchical_model"),
  fails: fc.nat({ max: 6 }).map((number) => number === 0),
});
const dataset = fc.record({
  name: fc.oneof(
    fc.constant(""),
    fc.string({ unit: "grapheme", maxLength: 6 }).filter((name) => !/[/\\?#]|\p{C}/u.test(name)),
  ),
  documents: fc.array(document, { maxLength: 4 }),
});
const base = fc.record({
  datasets: fc.uniqueArray(dataset, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
  compress: fc.constantFrom("none", "gzip"),
});

test(`the same rows as in whole files, in every format, with documents by their ids (${numRuns} knowledge bases)`, async () => {
  await fc.assert(
    fc.asyncProperty(base, async ({ datasets, compress }) => {
      const store = new Store();
      const failures = new Map<string, { readonly status: number; readonly body: string }>();
      let seed = 0;
      for (const { name, documents } of datasets) {
        const made = documents.map(({ fails, ...options }) => {
          const document = makeDocument({ ...options, seed: ++seed });
          if (fails) failures.set(document.id, { status: 404, body: "gone" });
          return document;
        });
        addDataset(store, `0b7f9d1e${name}`, ...made);
      }
      const { run } = await startDatasets(store, { documentError: failures });
      const all = datasets.flatMap(({ documents }) => documents);
      if (all.length > 0 && failures.size === all.length) return; // a run without any complete document fails
      const [whole, divided] = [await run("none"), await run("dataset", { output: { compress } })];
      expect(divided.manifest.documents).toEqual(whole.manifest.documents);
      for (const format of fileFormats) {
        for (const kind of kinds) {
          const [wanted, found] = [
            await linesOf(whole.folder, kind, format),
            await linesOf(divided.folder, kind, format),
          ];
          expect(byDocument(found)).toEqual(byDocument(wanted));
          expect(found.length).toBe(wanted.length);
          expect(placesOf(found)).toEqual(
            placesOf(found).toSorted((a, b) => inJob(a) - inJob(b) || (a[1] < b[1] ? -1 : 1)),
          );
        }
      }
      function inJob([id]: readonly [string, string]): number {
        return datasets.findIndex(({ name }) => `0b7f9d1e${name}` === id);
      }
      expect(await verifyRun(divided.folder)).toMatchObject({ status: "sound", findings: [] });
    }),
    { numRuns },
  );
}, 600_000);

async function linesOf(folder: string, kind: (typeof kinds)[number], format: FileFormat): Promise<readonly string[]> {
  const dump = await openDump(folder, "nothing was read");
  const table = tablesOf(dump.manifest.files).find((each) => each.kind === kind && each.format === format);
  if (!table) throw new Error(`there is no ${kind}.${format}`);
  const lines: string[] = [];
  for await (const some of dump.lines(await dump.check(table), duckDbOptions(folder))) lines.push(...some);
  return lines;
}

function placeOf(line: string): readonly [dataset: string, document: string] {
  const { dataset_id, document_id } = JSON.parse(line);
  return [dataset_id, document_id];
}

function byDocument(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const rows = new Map<string, string[]>();
  for (const line of lines) {
    const key = JSON.stringify(placeOf(line));
    rows.set(key, [...(rows.get(key) ?? []), line]);
  }
  return rows;
}

/** The documents of the rows in order; consecutive rows of one document count once. */
function placesOf(lines: readonly string[]): readonly (readonly [string, string])[] {
  const places = lines.map(placeOf);
  return places.filter((place, at) => place.join() !== places[at - 1]?.join());
}
