import { serveDefaults } from './serve-options.ts';
import { startServer } from './start-server.ts';

const truth = process.env.TRUTH === '0' ? null : '/tmp/perf/truth.jsonl';
const s = await startServer({
  ...serveDefaults,
  model: process.env.MODEL ?? 'Qwen3-Omni-30B-A3B-Instruct',
  port: 18777,
  truthLog: truth,
  stageOverrides:
    process.env.OV ??
    '{"0":{"ttft":{"baseMs":100,"perInputTokenMs":0,"sd":0},"step":{"nativeMs":20,"sd":0,"outlierP":0},"batchSlope":0,"maxNumSeqs":1000}}',
});
console.log('ready');
let last = process.cpuUsage();
let lastT = performance.now();
setInterval(() => {
  const c = process.cpuUsage();
  const t = performance.now();
  const us = c.user + c.system - last.user - last.system;
  console.log(
    `cpu ${(us / (t - lastT) / 10).toFixed(1)}% (sys ${((c.system - last.system) / (t - lastT) / 10).toFixed(1)}%) per-event(25k) ${(us / ((t - lastT) / 1000) / Number(process.env.RATE ?? 25000)).toFixed(2)}us rss ${(process.memoryUsage().rss / 1e6).toFixed(0)}`,
  );
  last = c;
  lastT = t;
}, 2000);
process.on('SIGTERM', async () => {
  await s.close();
  process.exit(0);
});
