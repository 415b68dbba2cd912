import { randomStream } from '../foundation/random.ts';
import { blocksAcross, type Mosaic, MosaicEncoder, parameterSets } from './h264-mosaic.ts';
import { aacTrack } from './mp4-audio-track.ts';
import { type Mp4Sample, type Mp4Track, muxMp4, words } from './mp4-mux.ts';
import { avcTrack } from './mp4-video-track.ts';
import type { PcmFormat } from './wav-encode.ts';

/** A video to be made. */
export type VideoDescription = {
  /** Even, at least 2. */
  readonly widthPx: number;
  /** Even, at least 2. */
  readonly heightPx: number;
  readonly numFrames: number;
  /** Frames per second, may be fractional. */
  readonly fps: number;
  /** Equal seeds give equal videos. */
  readonly seed: number;
  /** 16-bit little-endian samples; `null` = silent. */
  readonly audio: { readonly pcm: Buffer; readonly format: PcmFormat } | null;
};

/** Frames between two at which a player may start. */
const keyInterval = 48;
/** Background of slowly changing colour, and a bright square that wanders over it. */
function pictureSource(across: number, down: number, seed: number): (index: number) => Mosaic {
  const random = randomStream(seed, 'video');
  const hue = [random.integer(60, 196), random.integer(60, 196)] as const;
  const square = Math.max(1, Math.floor(Math.min(across, down) / 4));
  const start = { x: random.integer(0, across), y: random.integer(0, down) };
  const blocks = across * down;
  const background: Mosaic = {
    y: new Uint8Array(blocks),
    cb: new Uint8Array(blocks),
    cr: new Uint8Array(blocks),
  };
  for (let at = 0; at < blocks; at += 1) {
    const x = (at % across) / across;
    const y = Math.floor(at / across) / down;
    background.y[at] = 40 + Math.round(60 * x + 60 * y);
    background.cb[at] = Math.round(hue[0] + 40 * (x - 0.5));
    background.cr[at] = Math.round(hue[1] + 40 * (y - 0.5));
  }
  return (index) => {
    const picture = { y: background.y.slice(), cb: background.cb.slice(), cr: background.cr.slice() };
    const left = bounce(start.x + index, across - square);
    const top = bounce(start.y + Math.floor(index / 2), down - square);
    for (let y = top; y < top + square; y += 1) {
      const from = y * across + left;
      picture.y.fill(220, from, from + square);
      picture.cb.fill(128, from, from + square);
      picture.cr.fill(128, from, from + square);
    }
    return picture;
  };
}

/** A position that runs from 0 to `most` and back. */
function bounce(position: number, most: number): number {
  if (most <= 0) return 0;
  const at = position % (2 * most);
  return at <= most ? at : 2 * most - at;
}

function videoTrack({ widthPx, heightPx, numFrames, fps, seed }: VideoDescription): Mp4Track {
  const { sps, pps } = parameterSets({ widthPx, heightPx }, fps);
  const encoder = new MosaicEncoder({ widthPx, heightPx });
  const picture = pictureSource(blocksAcross(widthPx), blocksAcross(heightPx), seed);
  const samples: Mp4Sample[] = [];
  for (let index = 0; index < numFrames; index += 1) {
    const isSync = index % keyInterval === 0;
    const unit = encoder.encode(picture(index), isSync);
    samples.push({ bytes: Buffer.concat([words(unit.length), unit]), isSync });
  }
  return avcTrack({ widthPx, heightPx, fps, sps, pps, samples });
}

/**
 * A playable MP4 (H.264, with AAC where there is sound) of exactly the frames, size and rate asked for.
 * @throws RangeError for odd or absurd sizes, no frames, or a rate that is not above 0
 */
export async function drawVideo(description: VideoDescription): Promise<Buffer> {
  const { widthPx, heightPx, numFrames, fps, audio } = description;
  for (const side of [widthPx, heightPx]) {
    if (!Number.isInteger(side) || side < 2 || side > 16384 || side % 2 !== 0)
      throw new RangeError(`A video side of ${side} px cannot be made; it must be even, 2 to 16384`);
  }
  if (!Number.isInteger(numFrames) || numFrames < 1) throw new RangeError(`A video of ${numFrames} frames`);
  if (!(fps > 0 && Number.isFinite(fps))) throw new RangeError(`A video of ${fps} frames per second`);
  const tracks = [videoTrack(description)];
  if (audio !== null && audio.pcm.length > 0) tracks.push(await aacTrack(audio.pcm, audio.format));
  return muxMp4(tracks);
}
