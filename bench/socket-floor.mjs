// The floor: reads the event streams with as little work as Node allows, and only counts. Every read of every
// connection goes into one buffer; a reply is over when a read ends in the last chunk.
//
// usage: node bench/socket-floor.mjs --port N --streams S
// Prints its own figures as JSON. Lateness comes from a sample of the reads, kept unread until the streams are over.
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { hostOffsetMs, stampDigits, stampsMs } from './stamps.mjs';

const { values } = parseArgs({ options: { port: { type: 'string' }, streams: { type: 'string' } } });
const port = Number(values.port);
const streams = Number(values.streams);

/** One read in so many is kept for the lateness. */
const sampleEvery = 16;
const sampleBytes = 256;
const maxSamples = 65_536;
/** A stamp stands behind this in an event. */
const stampMark = '"content":"';

const body = JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'Hi' }], stream: true });
const request =
  `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
  `content-length: ${body.length}\r\n\r\n${body}`;

const buffer = Buffer.allocUnsafeSlow(256 * 1024);
const kept = Buffer.alloc(maxSamples * sampleBytes);
const keptMs = new Float64Array(maxSamples);
let keptCount = 0;
let reads = 0;
let bytes = 0;

function endsReply(length) {
  return (
    length >= 5 &&
    buffer[length - 5] === 48 &&
    buffer[length - 4] === 13 &&
    buffer[length - 3] === 10 &&
    buffer[length - 2] === 13 &&
    buffer[length - 1] === 10
  );
}

function keepSample(length) {
  if (keptCount === maxSamples) return;
  keptMs[keptCount] = performance.now();
  buffer.copy(kept, keptCount * sampleBytes, 0, Math.min(length, sampleBytes));
  keptCount += 1;
}

function readStream() {
  return new Promise((resolve, reject) => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer,
        callback: (length) => {
          reads += 1;
          bytes += length;
          if (reads % sampleEvery === 0) keepSample(length);
          if (endsReply(length)) {
            socket.destroy();
            resolve();
          }
          return true;
        },
      },
    });
    socket.on('error', reject);
    socket.write(request, 'latin1');
  });
}

function latenessMs() {
  const late = [];
  for (let i = 0; i < keptCount; i += 1) {
    const text = kept.toString('latin1', i * sampleBytes, (i + 1) * sampleBytes);
    const at = text.indexOf(stampMark);
    if (at === -1) continue;
    const stampAt = at + stampMark.length;
    const [stampMs] = stampsMs(text.slice(stampAt, stampAt + stampDigits));
    if (stampMs > 0) late.push({ stampMs, lateMs: keptMs[i] + hostOffsetMs - stampMs });
  }
  return late;
}

const cpuBefore = process.cpuUsage();
await Promise.all(Array.from({ length: streams }, readStream));
const cpu = process.cpuUsage(cpuBefore);
console.log(JSON.stringify({ cpuS: (cpu.user + cpu.system) / 1e6, reads, bytes, lateness: latenessMs() }));
