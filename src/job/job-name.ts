/** The names that a job can have: they name its folder and its database. */
export const jobName = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/** Whether a text can be the name of a job. */
export function isJobName(text: string): boolean {
  return jobName.test(text);
}
