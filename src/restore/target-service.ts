import type { Log } from "../log.js";

/** The service that is restored to, or compared with, and how to reach it. Errors name the flags that these settings come from. */
export interface TargetService {
  readonly baseUrl: string;
  /** The flag that the base URL comes from, for errors; `--to` by default. */
  readonly addressFlag?: string;
  /** The variable that the key comes from, for messages and for the dumps of the target. */
  readonly keyEnv: string;
  /** The key; undefined only where nothing is asked of the service. */
  readonly key: string | undefined;
  readonly allowHttp: boolean;
  readonly concurrency: number | undefined;
  readonly maxRps: number | undefined;
  /** Memory for DuckDB, as DuckDB reads it. */
  readonly memory: string;
  readonly caFile: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly now: () => Date;
}

/** A document of the target. */
export interface TargetDocument {
  readonly dataset_id: string;
  readonly document_id: string;
}

/** Why nothing may be written to a document. */
export interface Refusal {
  /** A sentence. */
  readonly reason: string;
  /** Whether its rows can be read and compared all the same: only a document with lost rows is then refused. */
  readonly isReadable: boolean;
}

/** Refusals by the `documentKey` of their documents. */
export type Refusals = ReadonlyMap<string, Refusal>;
