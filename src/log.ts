/** Logs a message for the user. Results are not logged. */
export type Log = (level: "info" | "warn", message: string) => void;
