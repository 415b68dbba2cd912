import { nowMs } from '../foundation/clock.ts';
import { UsageError } from '../foundation/errors.ts';
import { randomStream } from '../foundation/random.ts';
import { type Ffmpeg, findFfmpeg } from '../media/ffmpeg.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { inlinePart, urlPart } from './inline-media.ts';
import { drawMmItems, type MmItem, mmPlan } from './mm-plan.ts';
import { asMultimodalChat } from './multimodal-chat.ts';
import { randomTextSamples } from './random.ts';
import { mediaGeneratorVersion, type RandomMediaJob } from './random-media.ts';
import { type MediaOrigin, obtainRandomMedia } from './random-media-cache.ts';
import { obtainRandomMediaInThread } from './random-media-worker.ts';
import type { ContentPart, Sample } from './sample.ts';

const partKinds = { image: 'image_url', video: 'video_url', audio: 'audio_url' } as const;

function mimeOf(kind: MmItem['kind'], audioMime: string): string {
  if (kind === 'audio') return audioMime;
  return kind === 'image' ? 'image/jpeg' : 'video/mp4';
}

/** Media take long to make; an endpoint that has no place for them says so first. */
function askEndpoint(context: LoadContext, kinds: ReadonlySet<MmItem['kind']>): void {
  const media = [...kinds].map((kind) =>
    urlPart(partKinds[kind], `data:${mimeOf(kind, 'audio/wav')};base64,`),
  );
  const tiny: Sample = { prompt: 'x', promptTokens: 1, expectedOutputTokens: 1, media, requestId: null };
  context.tryOut?.(asMultimodalChat(tiny, context.options));
}

function whichFfmpeg(found: Ffmpeg | null): string {
  if (found === null) return 'there is no ffmpeg on the PATH';
  return found.hasX264 ? found.version : `${found.version} has no libx264`;
}

/**
 * What encodes the videos of this run, said in one line, because another encoder gives other bytes.
 * @throws UsageError where FFmpeg was asked for and cannot do it
 */
async function chooseEncoder(context: LoadContext): Promise<RandomMediaJob['videoEncoder']> {
  const asked = context.options.randomMm.videoEncoder;
  const builtIn = { kind: 'built-in', version: String(mediaGeneratorVersion) } as const;
  if (asked === 'built-in') return builtIn;
  const found = await findFfmpeg();
  if (found?.hasX264) {
    context.note(`random-mm: videos are encoded by ${found.version} (libx264).`);
    return { kind: 'ffmpeg', version: found.version };
  }
  if (asked === 'ffmpeg')
    throw new UsageError(
      `--random-mm-video-encoder ffmpeg: ${whichFfmpeg(found)}. Install one that has libx264 (Debian, Ubuntu: apt-get install ffmpeg; macOS: brew install ffmpeg), or use built-in.`,
    );
  context.note(
    `random-mm: videos are encoded by this program itself, for ${whichFfmpeg(found)}. They are as large, but not the same bytes: --random-mm-video-encoder fixes the choice.`,
  );
  return builtIn;
}

/** The media of all requests, in order. */
async function makeMedia(context: LoadContext, items: readonly MmItem[]): Promise<readonly Uint8Array[]> {
  if (items.length === 0) return [];
  const hasVideo = items.some(({ kind }) => kind === 'video');
  const videoEncoder = hasVideo ? await chooseEncoder(context) : { kind: 'built-in' as const, version: '' };
  const job: RandomMediaJob = { seed: context.seed, items, videoEncoder };
  const made = new Map<number, Uint8Array>();
  const keeping = {
    env: context.env ?? process.env,
    note: context.note,
    onItem: (index: number, bytes: Uint8Array) => {
      made.set(index, bytes);
      context.progress(made.size, items.length);
    },
  };
  const startMs = nowMs();
  const origin = (await obtainRandomMediaInThread(job, keeping)) ?? (await obtainRandomMedia(job, keeping));
  const media = items.map((_, index) => made.get(index) ?? new Uint8Array(0));
  context.note(mediaLine(items, media, { origin, tookMs: nowMs() - startMs }));
  return media;
}

/** `random-mm: 400 images, 221.8 MB, made in 2.13 s.` */
function mediaLine(
  items: readonly MmItem[],
  media: readonly Uint8Array[],
  { origin, tookMs }: { readonly origin: MediaOrigin; readonly tookMs: number },
): string {
  const counts = [
    ['image', 'images'],
    ['video', 'videos'],
    ['audio', 'sounds'],
  ].flatMap(([kind, name]) => {
    const count = items.filter((item) => item.kind === kind).length;
    return count > 0 ? [`${count} ${name}`] : [];
  });
  const bytes = media.reduce((sum, { length }) => sum + length, 0);
  const how = origin === 'made' ? 'made in' : 'taken from an earlier run in';
  return `random-mm: ${counts.join(', ')}, ${(bytes / 1e6).toFixed(1)} MB, ${how} ${(tookMs / 1000).toFixed(2)} s.`;
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { options, seed } = context;
  const plan = mmPlan(options.randomMm);
  askEndpoint(context, new Set(plan.maxItems === 0 ? [] : plan.choices.map(({ item }) => item.kind)));
  const texts = await randomTextSamples(context);
  const items = texts.map((_, index) => drawMmItems(plan, randomStream(seed, `random-mm-items-${index}`)));
  const media = await makeMedia(context, items.flat());
  let next = 0;
  return texts.map((sample, index) => {
    const parts = (items[index] ?? []).map((item): ContentPart => {
      const bytes = media[next] ?? new Uint8Array(0);
      next += 1;
      return inlinePart(partKinds[item.kind], mimeOf(item.kind, options.randomMm.audioMime), bytes);
    });
    return asMultimodalChat({ ...sample, media: parts }, options);
  });
}

/** Random prompts with images, videos and sounds of noise. */
export const randomMm: Dataset = {
  name: 'random-mm',
  doc: 'Random prompts with images (JPEG), videos (H.264) and sounds (WAV) of noise, which do not compress.',
  flags: [
    'random-input-len',
    'random-output-len',
    'random-prefix-len',
    'random-range-ratio',
    'random-mm-base-items-per-request',
    'random-mm-num-mm-items-range-ratio',
    'random-mm-limit-mm-per-prompt',
    'random-mm-bucket-config',
    'random-mm-video-encoder',
    'random-mm-audio-mime',
    'enable-multimodal-chat',
  ],
  meaningless: true,
  load,
};
