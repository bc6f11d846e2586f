import type { Dialogue } from "../dialogue/dialogue.js";
import { UsageError } from "../errors.js";
import { askAccess } from "./ask-access.js";
import { askDatasets, askDocuments, askFormats, askKeyPlace } from "./ask-choices.js";
import type { AskedJob, GivenAnswers, Named } from "./asked-job.js";
import { keyVariable, type SurveySetting } from "./survey.js";

/** The result of the dialogue. */
export interface Asked {
  readonly job: AskedJob;
  /** The key, if it is to be saved in the file that the job names. */
  readonly keyToSave: string | undefined;
}

/**
 * Asks for a service and its key, tries them, and asks which datasets and documents to export, by name. Rejects with
 * InterruptedError when somebody cancels, and with UsageError or StopError if a wrong answer cannot be corrected.
 */
export async function askJob(
  given: GivenAnswers,
  keyFile: string,
  dialogue: Dialogue,
  setting: SurveySetting,
): Promise<Asked> {
  const { access, datasets: listed } = await askAccess(given, dialogue, setting);
  const chosen = await askDatasets(given.datasets, listed, dialogue);
  requireOneDataset(given.documents, chosen);
  const datasets =
    chosen === "all" ? chosen : await askDocuments(given.documents, chosen, { access, dialogue, setting });
  const formats = await askFormats(given.formats, dialogue);
  const isSaved = setting.env[keyVariable] === undefined && (await askKeyPlace(keyFile, dialogue)) === "file";
  const key = isSaved ? { file: keyFile } : { variable: keyVariable };
  return {
    job: { baseUrl: access.baseUrl, allowHttp: access.allowHttp, key, datasets, formats },
    keyToSave: isSaved ? access.key : undefined,
  };
}

/** Documents are chosen in one dataset only; of several, every document is exported. */
function requireOneDataset(documents: readonly string[], datasets: "all" | readonly Named[]): void {
  if (documents.every((document) => document === "all") || (datasets !== "all" && datasets.length === 1)) return;
  throw new UsageError("--document: needs exactly one --dataset", []);
}
