import { deadAfter, type Head } from "./head.js";

/** Says who holds a job, and when another may take it over. `age`: milliseconds since its last sign of life. */
export function busyText({ holder }: Head, age: number): string {
  const [seen, left] = [age, deadAfter - age].map((time) => Math.ceil(time / 1000));
  const who = `process ${holder?.pid} on ${holder?.host} since ${holder?.since}`;
  return `another run of this job is at work: ${who}. It gave its last sign of life ${seen} s ago; without another one, its hold is taken over in ${left} s. Wait for its end, or end it there`;
}

/** Says why a run ends that does not hold its job any more. `head`: the one that is there; `url`: where it is. */
export function lostText(head: Head | undefined, url: string): string {
  if (!head?.holder) return `${url} was removed or replaced while this run was at work, so it ends`;
  const { pid, host, since } = head.holder;
  return `this job was taken over by process ${pid} on ${host} since ${since}: this run gave no sign of life for two minutes. This run ends; the other one goes on`;
}
