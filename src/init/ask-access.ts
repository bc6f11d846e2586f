import type { Dialogue, Question } from "../dialogue/dialogue.js";
import { StopError, UsageError } from "../errors.js";
import type { GivenAnswers, Named } from "./asked-job.js";
import { type Access, keyVariable, type SurveySetting, surveyDatasets, surveyDocuments } from "./survey.js";

/** A service that answered, and the datasets that it listed. */
export interface Answering {
  readonly access: Access;
  readonly datasets: readonly Named[];
}

const urlQuestion: Question = {
  message: "Base URL of the service",
  example: "https://kb.example.com/v1",
  flag: "--base-url",
};
const keyQuestion: Question = {
  message: "API key of the datasets",
  example: "dataset-…",
  flag: keyVariable,
  isSecret: true,
};

/** Asks for the base URL and the key until the service lists its datasets; without a terminal, the first error counts. */
export async function askAccess(
  given: Pick<GivenAnswers, "baseUrl" | "allowHttp" | "datasets">,
  dialogue: Dialogue,
  setting: SurveySetting,
): Promise<Answering> {
  const ids = given.datasets.filter(isUuid);
  let url = given.baseUrl;
  let knownKey = setting.env[keyVariable];
  if (url === undefined) dialogue.say("Dify shows the base URL and the keys under Knowledge, Service API.");
  for (;;) {
    const missing = [...(url === undefined ? [urlQuestion] : []), ...(knownKey === undefined ? [keyQuestion] : [])];
    const answers = await dialogue.ask(missing);
    const baseUrl: string = answers.get(urlQuestion.flag) ?? url ?? "";
    const key: string = answers.get(keyQuestion.flag) ?? knownKey ?? "";
    dialogue.say(`Asking ${baseUrl} …`);
    try {
      const access = { baseUrl, allowHttp: given.allowHttp, key };
      const needsList = ids.length === 0 || ids.length < given.datasets.length;
      const datasets = needsList ? await surveyDatasets(access, setting) : await surveyNamed(access, ids, setting);
      return { access, datasets };
    } catch (error) {
      const isOurs = error instanceof StopError || error instanceof UsageError;
      if (!dialogue.isInteractive || !isOurs || setting.signal.aborted) throw error;
      dialogue.say(error.message);
      const isKeyWrong = isRefusedKey(error);
      url = isKeyWrong ? baseUrl : undefined;
      knownKey = isKeyWrong ? undefined : key;
    }
  }
}

/** A key that is bound to one dataset may not list them: its documents show whether it is taken. */
async function surveyNamed(access: Access, ids: readonly string[], setting: SurveySetting): Promise<readonly Named[]> {
  for (const id of ids) await surveyDocuments(access, id, setting);
  return ids.map((id) => ({ id, name: null }));
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** The refusal is the error itself, or the cause of the error of the list. */
function isRefusedKey(error: Error): boolean {
  const statuses = [error, error.cause].map((each) => (each instanceof StopError ? each.status : undefined));
  return statuses.includes(401);
}
