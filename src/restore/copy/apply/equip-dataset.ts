import { SkipError } from "../../../errors.js";
import { nameText } from "../../../words.js";
import { type DatasetPlan, type FieldPlan, wishedName } from "../copy-plan.js";
import type { ApplyOptions } from "./apply-options.js";
import { executeWrite, findField, findTag, madeBy, readFields, type StandingField } from "./execute-write.js";

/** A dataset of the target with its metadata fields and tags. */
export interface Equipped {
  /** The metadata fields that it has, by their names. */
  readonly fields: ReadonlyMap<string, StandingField>;
  /** Names of tags that it could not get. */
  readonly missingTags: readonly string[];
  /** Fields and tags that could not be made: sentences. */
  readonly problems: readonly string[];
}

/** Gives a dataset the metadata fields, built-in fields and tags that it does not have yet. */
export async function equipDataset(plan: DatasetPlan, id: string, options: ApplyOptions): Promise<Equipped> {
  const fields = new Map<string, StandingField>();
  const problems: string[] = [];
  const trying = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      problems.push(`dataset ${nameText(wishedName(plan))}: ${what}: ${error.message}`);
    }
  };
  if (plan.fields.length > 0 || plan.built_in_fields) {
    await trying("its metadata fields", async () => {
      const standing = await readFields(options, id);
      for (const field of standing.fields) fields.set(field.name, field);
      for (const field of plan.fields)
        await trying(`the metadata field ${nameText(field.name)}`, async () => {
          fields.set(field.name, await fieldOf(plan, id, field, fields.get(field.name), options));
        });
      if (plan.built_in_fields && !standing.hasBuiltIn)
        await trying("the built-in metadata fields", () => showBuiltInFields(plan, id, options));
    });
  }
  let missingTags = plan.tags;
  if (plan.tags.length > 0)
    await trying("its tags", async () => {
      missingTags = await bindTags(plan, id, options, trying);
    });
  return { fields, missingTags, problems };
}

async function fieldOf(
  { key }: DatasetPlan,
  id: string,
  { name, type }: FieldPlan,
  standing: StandingField | undefined,
  options: ApplyOptions,
): Promise<StandingField> {
  if (standing && standing.type !== type)
    throw new SkipError(`it is of the type ${standing.type} there, and of the type ${type} in the dump`);
  if (standing) return standing;
  const facts = { write: "create field", dataset_id: key, old_id: name, name } as const;
  const write = options.writer.createMetadataField(id, { type, name });
  const [made = ""] = madeBy(await executeWrite(options, facts, write, () => findField(options, id, name)), "make it");
  return { id: made, name, type };
}

async function showBuiltInFields({ key }: DatasetPlan, id: string, options: ApplyOptions): Promise<void> {
  const find = async () => ((await readFields(options, id)).hasBuiltIn ? { ids: [] } : undefined);
  const write = options.writer.setBuiltInFields(id, "enable");
  madeBy(await executeWrite(options, { write: "set built-in fields", dataset_id: key }, write, find), "enable them");
}

type Trying = (what: string, work: () => Promise<unknown>) => Promise<void>;

/**
 * Binds all tags that the dataset does not have yet in one request; tags that the service does not know are made before. Gives the names
 * of those that could not be made.
 */
async function bindTags(
  { key, tags }: DatasetPlan,
  id: string,
  options: ApplyOptions,
  trying: Trying,
): Promise<readonly string[]> {
  const { api, writer } = options;
  const readMissing = async () => {
    const names = new Set((await api.datasetTags(id)).map(({ name }) => name));
    return tags.filter((name) => !names.has(name));
  };
  const missing = await readMissing();
  const ids: string[] = [];
  const made = new Set<string>();
  for (const name of missing)
    await trying(`the tag ${nameText(name)}`, async () => {
      const facts = { write: "create tag", dataset_id: key, old_id: name, name } as const;
      const find = () => findTag(options, name);
      const make = async () => madeBy(await executeWrite(options, facts, writer.createTag(name), find), "make it");
      const found = await find().catch(nameTagDefect);
      ids.push(...(found?.ids ?? (await make().catch(nameTagDefect))));
      made.add(name);
    });
  const unmade = missing.filter((name) => !made.has(name));
  if (ids.length === 0) return unmade;
  const find = async () => ((await readMissing()).length <= missing.length - ids.length ? { ids: [] } : undefined);
  madeBy(
    await executeWrite(options, { write: "bind tags", dataset_id: key }, writer.bindTags(id, ids), find),
    "bind them",
  );
  return unmade;
}

/** Release 1.12.1 creates a tag but answers 400, and then lists no tags: its schema expects binding_count as a string. */
function nameTagDefect(error: unknown): never {
  if (!(error instanceof SkipError) || !error.message.includes("binding_count")) throw error;
  const defect = "the service makes tags, but cannot show them (400, binding_count), a defect of release 1.12.1";
  throw new SkipError(`${defect}; update it, then run the same command again, which binds them`, { cause: error });
}
