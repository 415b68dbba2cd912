import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { chunkPeriodMs, fittedFrames, itemFrameBytes } from './frame-transport.ts';

describe('frames that become items', () => {
  it('have room for eight and the next in 4 MiB of base64', () => {
    // 4 MiB over nine items are 466,033 characters of base64, three bytes for each four.
    expect(itemFrameBytes).toBe(349_525);
  });

  it('are left alone where they fit, and drawn anew where they do not', async () => {
    const [width, height] = [1200, 900];
    const noise = randomBytes(width * height * 3);
    const large = await sharp(noise, { raw: { width, height, channels: 3 } })
      .jpeg({ quality: 95 })
      .toBuffer();
    expect(large.length).toBeGreaterThan(itemFrameBytes);
    const small = Buffer.from([1, 2, 3]);
    const [first, second, third] = await fittedFrames([small, null, large]);
    expect(first).toBe(small);
    expect(second).toBeNull();
    const drawn = await sharp(Buffer.from(third ?? [])).metadata();
    expect([drawn.format, drawn.width, drawn.height]).toEqual(['jpeg', 640, 480]);
  });

  it('must be pictures where they have to be drawn anew', async () => {
    await expect(fittedFrames([Buffer.alloc(itemFrameBytes + 1)])).rejects.toThrow(
      /a frame of the sample is no picture/,
    );
  });
});

describe('the model’s unit', () => {
  it.each([
    [480, 480],
    [0, 1000],
    [1.5, 1000],
    ['1000', 1000],
    [undefined, 1000],
  ])('said to be %s is %s ms', (said, period) => {
    expect(chunkPeriodMs({ capabilities: { chunk_period_ms: said } })).toBe(period);
  });
});
