import type { Listed } from "../../../client/check-answer.js";
import { SkipError } from "../../../errors.js";
import { isMapping } from "../../../schema.js";
import type { ValuePlan } from "../copy-plan.js";
import type { DocumentWork } from "./apply-options.js";
import { type ExecutedWrite, executeWrite, madeBy, type StandingField } from "./execute-write.js";

/** The wait between two tries of a change of state that the service does not take yet, in milliseconds, and all the time for it. */
const [firstWait, longestWait] = [1_000, 30_000];
const busyTime = 660_000;

/** A disabled or archived document takes no chunks: makes one that is there take them. */
export async function openForRows(work: DocumentWork): Promise<void> {
  await setState(work, { enabled: true, archived: false });
}

/** Gives a document the state that it has in the dump. SkipError where the service refuses. */
export async function closeAsPlanned(work: DocumentWork): Promise<void> {
  await setState(work, work.plan);
}

interface State {
  readonly enabled: boolean;
  readonly archived: boolean;
}

/** An archived document takes no other change: it is opened first, and archived last. */
async function setState(work: DocumentWork, wanted: State): Promise<void> {
  const state = stateOf(await readDocument(work));
  if (state.archived && (!wanted.archived || state.enabled !== wanted.enabled)) await change(work, "un_archive");
  if (state.enabled !== wanted.enabled) await change(work, wanted.enabled ? "enable" : "disable");
  if (wanted.archived && (!state.archived || state.enabled !== wanted.enabled)) await change(work, "archive");
}

type Action = "enable" | "disable" | "archive" | "un_archive";

/** For a while after a change of state, the service can be busy with it. */
async function change(work: DocumentWork, action: Action): Promise<void> {
  const { now, sleep, signal } = work.options;
  const begun = now();
  for (let wait = firstWait; ; wait = Math.min(longestWait, wait * 2)) {
    const executed = await changeOnce(work, action);
    if (!isBusy(executed) || now() - begun >= busyTime) return void madeBy(executed, `${action} it`);
    await sleep(wait, signal);
  }
}

async function changeOnce(work: DocumentWork, action: Action): Promise<ExecutedWrite<null>> {
  const { options, plan, place } = work;
  const { dataset_key, document_id } = plan;
  const facts = {
    write: "set status",
    dataset_id: dataset_key,
    document_id,
    target_id: place.documentId,
    name: action,
  } as const;
  const write = options.writer.setStatus(place.datasetId, action, [place.documentId]);
  return executeWrite(options, facts, write, async () => {
    const { enabled, archived } = stateOf(await readDocument(work));
    const isDone = { enable: enabled, disable: !enabled, archive: archived, un_archive: !archived }[action];
    return isDone ? { ids: [] } : undefined;
  });
}

function isBusy(executed: ExecutedWrite<null>): boolean {
  return executed.kind === "refused" && /being indexed|try again later/i.test(executed.message);
}

/**
 * Sets the values of the metadata fields, all in one request, unless the document has them already. SkipError where the service refuses;
 * and, once the others are set, where a field is not there.
 */
export async function setMetadata(work: DocumentWork, fields: ReadonlyMap<string, StandingField>): Promise<void> {
  const { options, plan, place } = work;
  const { dataset_key, document_id } = plan;
  const planned = plan.metadata.filter(({ value }) => value !== null && value !== "");
  const values = planned.flatMap(({ name, value }) => {
    const field = fields.get(name);
    return field ? [{ id: field.id, name, value }] : [];
  });
  const find = async () => (hasValues(await readDocument(work), values) ? { ids: [] } : undefined);
  if (values.length > 0 && !(await find())) {
    const facts = { write: "set metadata", dataset_id: dataset_key, document_id, target_id: place.documentId } as const;
    const write = options.writer.setMetadata(place.datasetId, place.documentId, values);
    madeBy(await executeWrite(options, facts, write, find), "set its metadata");
  }
  const missing = planned.filter(({ name }) => !fields.has(name)).map(({ name }) => `"${name}"`);
  if (missing.length > 0) throw new SkipError(`the dataset there has no metadata field ${missing.join(", ")}`);
}

/** A service may show a number as text. */
function hasValues({ doc_metadata }: Listed, values: readonly ValuePlan[]): boolean {
  const standing = Array.isArray(doc_metadata) ? doc_metadata.filter(isMapping) : [];
  const texts = new Map(standing.map(({ name, value }) => [name, String(value)]));
  return values.every(({ name, value }) => texts.get(name) === String(value));
}

async function readDocument({ options, place }: DocumentWork): Promise<Listed> {
  return options.api.document(place.datasetId, place.documentId);
}

function stateOf({ enabled, archived }: Listed): State {
  return { enabled: enabled !== false, archived: archived === true };
}
