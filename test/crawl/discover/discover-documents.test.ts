import { expect, test } from "vitest";
import { type DiscoveryJob, discoverDocuments } from "../../../src/crawl/discover-documents.js";
import { documentsOf } from "../../../src/crawl/discovery.js";
import { StopError } from "../../../src/errors.js";
import type { DatasetJob } from "../../../src/job/job.js";
import { nameAndId } from "../../../src/words.js";
import type { TestDataset } from "../../servers/store.js";
import { askedOf, idsOf, refusing, smallDocument, startPlace, upload } from "./discovering.js";

const everything: DiscoveryJob = { datasets: "all" };
const dataset = (id: string | undefined, documents: DatasetJob["documents"] = "all"): DatasetJob => ({
  id: id ?? "",
  documents,
  batches: [],
  status: [],
  keyword: undefined,
});
const job = (...datasets: DatasetJob[]): DiscoveryJob => ({ datasets });
const nameOf = (one: TestDataset | undefined) => nameAndId(one?.name, one?.id ?? "");
const shown = (one: TestDataset | undefined) => nameOf(one).replace(/[()]/g, "\\$&");
const page = (number: number) => `page=${number}&limit=100`;

test("a job that names every id asks nothing", async () => {
  const place = await startPlace([2]);
  const named = dataset(place.datasets[0]?.id, ["a", "b"]);
  expect(await discoverDocuments(place.client, job(named))).toEqual({ datasets: [named], found: undefined });
  expect(askedOf(place)).toEqual([]);
});

test("all documents of a dataset: newest first, each with its listed facts, every page read twice", async () => {
  const place = await startPlace([205, 1]);
  const [first, second] = place.datasets;
  const { datasets, found } = await discoverDocuments(
    place.client,
    job(dataset(first?.id), dataset(second?.id, ["x"])),
  );
  expect(datasets.map(({ id, documents }) => [id, documents])).toEqual([
    [first?.id, idsOf(first)],
    [second?.id, ["x"]],
  ]);
  expect(found?.rows.map(({ document_id }) => document_id)).toEqual(idsOf(first));
  expect(found?.rows[0]).toMatchObject({
    dataset_id: first?.id,
    dataset_name: first?.name,
    position: 205,
    indexing_status: "completed",
    display_status: "available",
    enabled: true,
    archived: false,
    extra: null,
  });
  expect(found).toMatchObject({ failures: [], notes: [], allDatasets: undefined, drift: {} });
  expect(found?.listings).toEqual([{ dataset_id: first?.id, name: first?.name, state: "listed", documents: 205 }]);
  const list = `/datasets/${first?.id}/documents`;
  const pages = [1, 1, 2, 2, 3, 3].map((number) => `${list}?${page(number)}`);
  expect(askedOf(place).sort()).toEqual([...pages, `/datasets/${first?.id}?`].sort());
});

test("all datasets: external ones and those that are closed to the API are skipped, and said to be", async () => {
  const place = await startPlace([1, 2, 3, 4]);
  const [first, external, closed, last] = place.datasets;
  if (external) external.listed = { provider: "external" };
  if (closed) closed.listed = { enable_api: false };
  const { datasets, found } = await discoverDocuments(place.client, everything);
  expect(datasets.map(({ id, documents }) => [id, documents])).toEqual([
    [first?.id, idsOf(first)],
    [last?.id, idsOf(last)],
  ]);
  expect(found?.rows.map(({ dataset_name }) => dataset_name)).toEqual([first?.name, ...Array(4).fill(last?.name)]);
  expect(found).toMatchObject({ failures: [], allDatasets: true });
  expect(found?.notes).toEqual([
    `dataset ${nameOf(external)} is skipped: its chunks are kept outside of the service (provider external)`,
    `dataset ${nameOf(closed)} is skipped: API access is off for it (enable_api false)`,
  ]);
  expect(found?.listings.map(({ dataset_id, state }) => [dataset_id, state])).toEqual([
    [first?.id, "listed"],
    [last?.id, "listed"],
    [external?.id, "skipped"],
    [closed?.id, "skipped"],
  ]);
  expect(askedOf(place)[0]).toBe(`/datasets?${page(1)}&include_all=true`);
  expect(askedOf(place)).toHaveLength(3);
});

test("an upload between two pages: the list is read again, and is whole", async () => {
  let uploaded = "";
  const place = await startPlace([250], {
    onRequest: ({ query, nth }, store) => {
      if (query.startsWith("page=2") && nth === 0) uploaded = upload([...store.datasets.values()][0]);
    },
  });
  const [only] = place.datasets;
  const { datasets, found } = await discoverDocuments(place.client, job(dataset(only?.id)));
  expect(found?.failures).toEqual([]);
  expect(uploaded).not.toBe("");
  expect(datasets[0]?.documents).toEqual(idsOf(only));
  expect(datasets[0]?.documents[0]).toBe(uploaded);
});

test("a list that keeps changing is used as read the third time, each id once, and is a failure", async () => {
  const place = await startPlace([250], {
    onRequest: ({ query }, store) => {
      if (query.startsWith("page=2")) upload([...store.datasets.values()][0]);
    },
  });
  const [only] = place.datasets;
  const { datasets, found } = await discoverDocuments(place.client, job(dataset(only?.id)));
  expect(askedOf(place).filter((target) => target.includes("page=1&"))).toHaveLength(3);
  const { documents = [] } = datasets[0] ?? {};
  expect(new Set(documents).size).toBe(documents.length);
  expect(documents.length).toBeGreaterThanOrEqual(250);
  expect(found?.listings).toMatchObject([{ state: "unsettled", documents: documents.length }]);
  expect(found?.failures).toHaveLength(1);
  expect(found?.failures[0]).toMatch(
    new RegExp(
      `^the list of documents of dataset ${shown(only)} changed during every read, and may lack some: total of`,
    ),
  );
});

test("as many documents added as removed between two pages are found by a second reading of the list", async () => {
  const place = await startPlace([150], {
    onRequest: ({ query, nth }, store) => {
      const [only] = store.datasets.values();
      if (!query.startsWith("page=2") || nth > 0 || !only) return;
      only.documents.delete(idsOf(only)[0] ?? ""); // page 1 listed it
      const others = [...only.documents.values()];
      only.documents.clear();
      for (const document of [smallDocument(), ...others]) upload(only, document); // the new document is the oldest
    },
  });
  const [only] = place.datasets;
  const { datasets, found } = await discoverDocuments(place.client, job(dataset(only?.id)));
  const listed = new Set(datasets[0]?.documents);
  const right = idsOf(only);
  expect(found?.failures).toEqual([]);
  expect(askedOf(place)).toHaveLength(9);
  expect([...listed].sort()).toEqual([...right].sort());
});

test("a list of datasets that keeps changing is a failure, and nothing counts as removed because of it", async () => {
  const place = await startPlace(
    Array.from({ length: 101 }, () => 0),
    {
      onRequest: ({ query }, store) => {
        if (query.startsWith("page=2")) store.addDataset();
      },
    },
  );
  upload(place.datasets[0]);
  const { datasets, found } = await discoverDocuments(place.client, everything);
  expect(found?.failures).toHaveLength(1);
  expect(found?.failures[0]).toMatch(
    /^the list of datasets changed during every read, and may lack some: total of data/,
  );
  expect(found?.allDatasets).toBe(false);
  expect(datasets.length).toBeGreaterThan(101);
  expect(new Set(datasets.map(({ id }) => id)).size).toBe(datasets.length);
});

test("a key of one dataset is asked to name the datasets", async () => {
  const faults = refusing("/datasets", 403, "forbidden", "You do not have permission.");
  const { client } = await startPlace([1], { faults });
  const refused = discoverDocuments(client, everything);
  await expect(refused).rejects.toBeInstanceOf(StopError);
  await expect(refused).rejects.toThrow(
    /^the datasets cannot be listed: GET .*403 forbidden You do not have permission.*name the datasets by id/,
  );
});

test("a service that does not support include_all is asked without it", async () => {
  const place = await startPlace([1], {
    faults: ({ query }) =>
      query.includes("include_all") ? { kind: "status", status: 400, code: "invalid_param", message: "?" } : undefined,
  });
  const { found } = await discoverDocuments(place.client, everything);
  expect(found?.notes).toEqual([expect.stringContaining("does not support include_all")]);
  expect(found?.rows).toHaveLength(1);
});

test("a dataset whose documents cannot be listed does not stop the others", async () => {
  const place = await startPlace([1, 2]);
  const [first, second] = place.datasets;
  place.server.behaviour.faults = refusing(
    `/${first?.id}/documents`,
    403,
    "forbidden",
    "Dataset api access is not enabled.",
  );
  const { datasets, found } = await discoverDocuments(place.client, everything);
  expect(datasets.map(({ documents }) => documents)).toEqual([[], idsOf(second)]);
  expect(found?.failures).toHaveLength(1);
  expect(found?.failures[0]).toMatch(
    new RegExp(`^the documents of dataset ${shown(first)} cannot be listed: GET .* 403 forbidden .*by id$`),
  );
  expect(found?.listings.map(({ state }) => state)).toEqual(["failed", "listed"]);
});

test("if no dataset can be listed, the run stops, unless other documents are named", async () => {
  const place = await startPlace([1, 2], { faults: refusing("/documents", 404, "not_found", "Dataset not found.") });
  const [first, second] = place.datasets;
  await expect(discoverDocuments(place.client, everything)).rejects.toThrow(
    /^2 datasets could not be listed; the first: the documents of dataset .* cannot be listed: GET .* 404 not_found/,
  );
  const one = discoverDocuments(place.client, job(dataset(first?.id)));
  await expect(one).rejects.toThrow(/^the documents of dataset /);
  await expect(one).rejects.toBeInstanceOf(StopError);
  const mixed = await discoverDocuments(place.client, job(dataset(first?.id), dataset(second?.id, ["x"])));
  expect(mixed.datasets.map(({ documents }) => documents)).toEqual([[], ["x"]]);
});

test("no dataset, or no readable one, is an error; a dataset without documents causes a message", async () => {
  const none = await startPlace([]);
  await expect(discoverDocuments(none.client, everything)).rejects.toThrow("the service lists no datasets");
  const place = await startPlace([0]);
  const [only] = place.datasets;
  const { found } = await discoverDocuments(place.client, everything);
  expect(found).toMatchObject({ rows: [], failures: [], notes: [`dataset ${nameOf(only)} has no documents`] });
  if (only) only.listed = { provider: "external", id: "\u001b[31mred\n" };
  await expect(discoverDocuments(place.client, everything)).rejects.toThrow(
    /^no dataset can be read; the first: dataset "Knowledge 1" \(\[31mred\) is skipped: its chunks/,
  );
});

test("a job of more documents than a run can hold is refused, however many datasets they are in", async () => {
  const place = await startPlace([2, 2]);
  await expect(discoverDocuments(place.client, everything, undefined, { most: 3 })).rejects.toThrow(
    new StopError(
      "the job has more than 3 documents, the maximum for a run, because its manifest lists each one; make several jobs, each with some of the datasets",
    ),
  );
  const { datasets } = await discoverDocuments(place.client, everything, undefined, { most: 4 });
  expect(datasets.flatMap(({ documents }) => documents)).toHaveLength(4);
});

test("of the documents of others, ids are kept, and no rows", async () => {
  const place = await startPlace([3]);
  const [only] = place.datasets;
  const [, second] = idsOf(only);
  const keeps = ({ document_id }: { readonly document_id?: unknown }) => document_id === second;
  const { datasets, found } = await discoverDocuments(place.client, everything, undefined, { keeps });
  expect(datasets.map(({ documents }) => documents)).toEqual([idsOf(only)]);
  expect(found?.rows.map(({ document_id }) => document_id)).toEqual([second]);
  expect(found?.listings.map(({ documents }) => documents)).toEqual([3]);
});

test("a wrong key stops at once", async () => {
  const faults = refusing("", 401, "unauthorized", "Access token is invalid");
  const place = await startPlace([1, 1], { faults });
  const refused = discoverDocuments(place.client, everything);
  await expect(refused).rejects.toBeInstanceOf(StopError);
  await expect(refused).rejects.toThrow(
    /does not accept this key .*; if the key is right, it may not list the datasets: name them by id/,
  );
  expect(askedOf(place)).toHaveLength(1);
});

test("parts are named after the place of a document that the job names, and after the ids of one that was found", () => {
  const datasets = [{ ...dataset("d"), documents: ["a", "b"] }];
  const found = { rows: [], listings: [], allDatasets: true, failures: [], notes: [], drift: {}, pages: 0 };
  expect(documentsOf({ datasets, found: undefined }).map(({ name }) => name)).toEqual(["0000001", "0000002"]);
  const [a, b] = documentsOf({ datasets, found });
  const [other] = documentsOf({ datasets: [{ ...dataset("d"), documents: ["b"] }], found });
  expect(a?.name).toMatch(/^[0-9a-f]{32}$/);
  expect(other).toEqual(b);
});

test.each([
  [404, "not_found"],
  [403, "forbidden"],
  [500, "internal_server_error"],
])(
  "a service that answers %i to the details of a dataset: its name stays null, after one request",
  async (status, code) => {
    const place = await startPlace([2]);
    const [only] = place.datasets;
    place.server.behaviour.faults = refusing(`/datasets/${only?.id}`, status, code, "no details");
    const { found } = await discoverDocuments(place.client, job(dataset(only?.id)));
    expect(found).toMatchObject({ failures: [], notes: [], listings: [{ name: null, state: "listed", documents: 2 }] });
    expect(found?.rows[0]).toMatchObject({ dataset_name: null });
    expect(askedOf(place).filter((path) => path === `/datasets/${only?.id}?`)).toHaveLength(1);
  },
);
