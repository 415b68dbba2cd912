// What an image library needs for pictures of noise when somebody hands it the pixels: `--images N`.
// Prints {"tookMs": …}, from loading the library to the last picture.
import { randomFillSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { images: { type: 'string' } } });
const [width, height, channels] = [1280, 720, 3];
// More pictures than a processor's caches hold: pixels come from memory, as those of new pictures do.
const pictures = Array.from({ length: 32 }, () => randomFillSync(new Uint8Array(width * height * channels)));

const startMs = performance.now();
const { default: sharp } = await import('sharp');

async function encode(number) {
  return await sharp(pictures[number % pictures.length], { raw: { width, height, channels } })
    .jpeg({ quality: 75, chromaSubsampling: '4:2:0', optimiseCoding: false })
    .toBuffer();
}

let left = Number(values.images);
async function lane() {
  while (left > 0) {
    left -= 1;
    await encode(left);
  }
}
await Promise.all(Array.from({ length: availableParallelism() + 1 }, lane));
console.log(JSON.stringify({ tookMs: performance.now() - startMs }));
