import { expect, test } from "vitest";
import { findUnsupported } from "../../src/job/unsupported.js";

test.each([
  [{ datasets: "all" }, ["datasets"], "all is not available in this version; list the datasets by id"],
  [
    { datasets: [{ documents: [] }, { documents: "all" }] },
    ["datasets", 1, "documents"],
    "all is not available in this version; list the documents by id",
  ],
])("%j is refused", (document, path, message) => {
  expect(findUnsupported(document)).toEqual([{ path, message }]);
});

test.each([
  [{}],
  [null],
  ["all"],
  [{ service: { max_rps: 5 }, datasets: [{}, 1, null], child_chunks: "auto", consistency: 1, output: [] }],
])("%j is not", (document) => {
  expect(findUnsupported(document)).toEqual([]);
});
