import type { AnswerLog } from "./answer-log.js";
import type { DatasetListAnswer } from "./dataset-list.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { PageSize } from "./page-size.js";
import type { ServiceProbe } from "./probe-service.js";

/** Everything that was noticed while a service was asked. */
export interface Evidence {
  readonly chunkPages: PageSize;
  readonly childPages: PageSize;
  readonly answers: AnswerLog;
  readonly probe: ServiceProbe;
  readonly surveys: readonly DocumentSurvey[];
  /** Collisions of positions in the child list that was read twice. */
  readonly childCollisions: number;
  readonly datasetList: DatasetListAnswer;
  /** Datasets that have no list of metadata fields, as on older services. */
  readonly withoutFields: number;
  /** Requests that were refused as too many. */
  readonly throttled: number;
}
