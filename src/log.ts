/** Logs a message for the user; never a result. */
export type Log = (level: "info" | "warn", message: string) => void;
