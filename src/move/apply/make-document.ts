import type { PreparedWrite } from "../../client/write/write-operations.js";
import type { CreatedDocument } from "../../client/write/written.js";
import { fingerprint } from "../../dump/files/join-parts.js";
import { SkipError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import { copyName } from "../copy-name.js";
import type { DocumentPlan, FilePlan } from "../move-plan.js";
import type { ApplyOptions } from "./apply-options.js";
import { carryOut, madeBy } from "./carry-out.js";
import { findDocument } from "./find-made.js";
import { stubText } from "./stub.js";

/**
 * Makes a document, which the service then indexes, and gives its id: of its original file where the plan has one, else of the stub. Never two at once:
 * after a lost answer, only one new document can be ours. SkipError where it cannot be made.
 */
export async function makeDocument(plan: DocumentPlan, datasetId: string, options: ApplyOptions): Promise<string> {
  const { dataset_key, document_id, original } = plan;
  if (original) await checkFile(original);
  const name = nameOf(plan);
  const write = creationOf(plan, datasetId, options);
  const facts = { write: "create document", dataset_id: dataset_key, document_id, old_id: document_id, name } as const;
  const carried = await carryOut(options, facts, write, () => findDocument(options, datasetId, name));
  const [id] = madeBy(carried, "make the document");
  if (id === undefined) throw new SkipError("the service made it, and nobody knows its id; restore again");
  return id;
}

/** The name that the service gives the copy of a document. */
export function nameOf({ document_name, original }: Pick<DocumentPlan, "document_name" | "original">): string {
  return original ? copyName(document_name, original.name) : document_name;
}

function creationOf(plan: DocumentPlan, datasetId: string, { writer }: ApplyOptions): PreparedWrite<CreatedDocument> {
  const { document_id, document_name, doc_form, doc_language, indexing_technique, process_rule, original } = plan;
  const settings = {
    ...{ doc_form, process_rule },
    ...(doc_language === null ? {} : { doc_language }),
    ...(indexing_technique === null ? {} : { indexing_technique }),
  };
  if (original) return writer.createByFile(datasetId, { ...original, name: nameOf(plan) }, settings);
  return writer.createByText(datasetId, { name: document_name, text: stubText(document_id), ...settings });
}

async function checkFile({ path, sha256 }: FilePlan): Promise<void> {
  const found = await fingerprint(path).catch((error: unknown) => {
    throw new SkipError(`${path}: the original cannot be read: ${problemText(error)}`, { cause: error });
  });
  if (found.sha256 !== sha256) throw new SkipError(`${path}: the original is not as its run saved it`);
}
