// What audio costs at least: samples are encoded to base64 and written, so many times a reply, and nothing else.
//
// usage: node bench/base64-source.mjs --events N --bytes B --every-ms T
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { events: { type: 'string' }, bytes: { type: 'string' }, 'every-ms': { type: 'string' } },
});
const events = Number(values.events);
const samples = Buffer.alloc(Number(values.bytes), 7);

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const timer = setInterval(() => {
    response.write(`data: {"choices":[{"delta":{"content":"${samples.toString('base64')}"}}]}\n\n`, 'latin1');
    sent += 1;
    if (sent < events) return;
    clearInterval(timer);
    response.end();
  }, Number(values['every-ms']));
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  console.log(JSON.stringify({ port: server.address().port }));
});
process.once('SIGTERM', () => process.exit(0));
