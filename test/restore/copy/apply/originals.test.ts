import { createHash } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../../run/job-for.js";
import { outcomesOf, type Sketch, startMove } from "./start-copy-of-run.js";

const text = "one\n\ntwo";
const sha256 = createHash("sha256").update(text).digest("hex");

/** A document that is made of its original, a file that holds two paragraphs. */
async function sketchWith(fields: Partial<Sketch> = {}) {
  const path = join(await testFolder(), "saved.txt");
  await writeFile(path, text);
  const original = { path, name: "first-name.txt", mime_type: "text/plain", bytes: text.length, sha256 };
  return { path, sketch: { document_name: "one.txt", original, ...fields } };
}

test("a document is made of its original, and the service cuts it anew; its metadata and state come last", async () => {
  const { sketch } = await sketchWith({ metadata: [{ name: "author", value: "Ö" }], enabled: false });
  const place = await startMove([sketch], { dataset: { fields: [{ name: "author", type: "string" }] } });
  expect(outcomesOf(await place.move())).toEqual(["one.txt: restored"]);
  expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed disabled", "    1 one", "    2 two"]);
  const make = "POST /datasets/*/document/create-by-file";
  const last = ["POST /datasets/*/documents/metadata", "PATCH /datasets/*/documents/status/disable"];
  expect(place.sent()).toEqual(["POST /datasets", "POST /datasets/*/metadata", make, ...last]);
  await place.move();
  expect(place.sent()).toHaveLength(5);
});

test("a document whose name has another ending than its file keeps the name of the file", async () => {
  const { sketch } = await sketchWith({ document_name: "renamed" });
  const place = await startMove([sketch]);
  await place.move();
  expect(await place.standing()).toContain("  first-name.txt completed");
});

test("an original that is gone, or not as its run saved it, fails its document, and is named", async () => {
  const [gone, changed, good] = [
    await sketchWith(),
    await sketchWith({ document_name: "two.txt" }),
    await sketchWith({ document_name: "three.txt" }),
  ];
  await rm(gone.path);
  await writeFile(changed.path, "something else");
  const place = await startMove([gone.sketch, changed.sketch, good.sketch]);
  expect(outcomesOf(await place.move())).toEqual([
    expect.stringContaining(`one.txt: failed: ${gone.path}: the original cannot be read: `),
    `two.txt: failed: ${changed.path}: the original is not as its run saved it`,
    "three.txt: restored",
  ]);
});

test("a lost answer is looked for by the name of the file", async () => {
  const { sketch } = await sketchWith({ document_name: "renamed" });
  const place = await startMove([sketch], {
    faultOf: ({ path }) => (path.endsWith("create-by-file") ? "lost" : undefined),
  });
  expect(outcomesOf(await place.move())).toEqual(["renamed: restored"]);
  expect(place.sent().filter((line) => line.endsWith("create-by-file"))).toHaveLength(1);
});
