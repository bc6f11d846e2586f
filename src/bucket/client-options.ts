/** How the client of a bucket is opened. */
export interface ClientOptions {
  /** Names credentials, region, endpoint and proxies, by the usual variables of AWS. */
  readonly env: NodeJS.ProcessEnv;
  /** Ends every request. */
  readonly signal: AbortSignal;
}
