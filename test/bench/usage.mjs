// Loaded into a measured process with --import. When the process ends, writes its resource usage to file descriptor 3.
import { writeSync } from "node:fs";

process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeSync(3, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, rss: maxRSS * 1024 }));
});
