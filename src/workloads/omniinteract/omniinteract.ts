import { availableParallelism, freemem } from 'node:os';
import { InputFileError, UsageError } from '../../foundation/errors.ts';
import { conversationMedia, videoDurationS } from '../../media/conversation-media.ts';
import { MediaCommandError } from '../../media/media-command.ts';
import { readVoice } from '../../media/read-voice.ts';
import type { Dataset, LoadContext } from '../dataset.ts';
import type { LiveInput, Sample } from '../sample.ts';
import { refusedAsInput } from './dataset-files.ts';
import { datasetRoot } from './dataset-root.ts';
import { discoverCases } from './discover-cases.ts';
import { hubArchive } from './hub-archive.ts';
import { caseKey, type OmniInteractCase } from './omniinteract-case.ts';
import { sampleCases } from './sample-cases.ts';
import { listedCases } from './video-list.ts';

const sampleRateHz = 16_000;
/** Pictures fit into a square of this side, px. */
const boxPx = 640;
/** A picture of a second at that size, bytes: a round figure for what is said before any is decoded. */
const typicalPictureBytes = 50_000;

async function load(context: LoadContext): Promise<readonly Sample[]> {
  try {
    return await loadCases(context);
  } catch (error) {
    throw refusedAsInput(error);
  }
}

async function loadCases(context: LoadContext): Promise<readonly Sample[]> {
  const voice = await referenceVoice(context);
  const cases = await chosenCases(context);
  if (cases.length === 0) throw new UsageError('No OmniInteract sessions were selected');
  const isFinished = (one: OmniInteractCase): boolean => context.isFinished?.(caseKey(one)) === true;
  const durations = await durationsOf(
    cases.filter((one) => !isFinished(one)),
    context,
  );
  tellMemory([...durations.values()], context);
  let done = 0;
  return await inParallel(cases, async (one, index) => {
    const durationS = durations.get(one);
    const live = await liveInput(one, { voice, durationS: durationS ?? null, context });
    done += 1;
    context.progress(done, cases.length);
    return {
      prompt: '',
      promptTokens: 0,
      expectedOutputTokens: null,
      media: [],
      requestId: `${context.requestIdPrefix}${index}`,
      live,
      ...(durationS === undefined ? { finishedBefore: true } : { inputAudioDurationS: Math.ceil(durationS) }),
    };
  });
}

async function chosenCases(context: LoadContext): Promise<OmniInteractCase[]> {
  const { options, numPrompts, note } = context;
  const { videoList, subsets, scenarioTags, scenarioFocus } = options.omniinteract;
  if (videoList !== null) return listedCases(videoList, numPrompts);
  const root = await datasetRoot(options.path, {
    note,
    download: (id) => hubArchive(id, { env: context.env ?? process.env, note }),
  });
  return sampleCases(discoverCases(root, subsets), {
    count: numPrompts,
    seed: context.seed,
    disableShuffle: options.disableShuffle,
    tags: scenarioTags,
    focus: scenarioFocus,
    note,
  });
}

/** @throws UsageError where there is none */
async function referenceVoice({ options }: LoadContext): Promise<Uint8Array> {
  const { refAudio } = options.omniinteract;
  if (refAudio === null) throw new UsageError('OmniInteract requires --omniinteract-ref-audio');
  return await readVoice(refAudio, '--omniinteract-ref-audio');
}

async function durationsOf(
  cases: readonly OmniInteractCase[],
  { options }: LoadContext,
): Promise<Map<OmniInteractCase, number>> {
  const { mediaTimeoutS: timeoutS, maxVideoDurationS: maxS } = options.omniinteract;
  const entries = await inParallel(cases, async (one) => {
    const durationS = await asInputError(() => videoDurationS(one.videoPath, { timeoutS, maxS }));
    return [one, durationS] as const;
  });
  return new Map(entries);
}

/** Everything is decoded before the clock starts, and held until the run has ended: said before it is tried. */
function tellMemory(durationsS: readonly number[], { note }: LoadContext): void {
  const seconds = durationsS.reduce((sum, durationS) => sum + Math.ceil(durationS), 0);
  const soundBytes = seconds * sampleRateHz * 2;
  const pictureBytes = seconds * typicalPictureBytes;
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  note(
    `omniinteract: decoding ${durationsS.length} videos, ${seconds} s in all, into memory: ${megabytes(soundBytes)} MB of sound and about ${megabytes(pictureBytes)} MB of pictures, and as much again while requests are made.`,
  );
  if (2 * (soundBytes + pictureBytes) > freemem())
    note(
      `omniinteract: only ${megabytes(freemem())} MB of memory are free; a lower --num-prompts needs less, a lower --max-concurrency does not.`,
    );
}

async function liveInput(
  one: OmniInteractCase,
  run: { voice: Uint8Array; durationS: number | null; context: LoadContext },
): Promise<LiveInput> {
  const { timeoutS, mediaTimeoutS, requireResponse } = run.context.options.omniinteract;
  const { durationS } = run;
  const media =
    durationS === null
      ? { pcm: new Uint8Array(), frames: [] }
      : await asInputError(() =>
          conversationMedia(one.videoPath, durationS, { sampleRateHz, boxPx, timeoutS: mediaTimeoutS }),
        );
  return {
    ...media,
    sampleRateHz,
    durationS: durationS ?? 0,
    refAudio: run.voice,
    timeoutS,
    requireResponse,
    caseFacts: { ...one },
  };
}

/** What is wrong with a video or the programs for it is wrong with what the run was given. */
async function asInputError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof MediaCommandError) throw new InputFileError(cause.message, { cause });
    throw cause;
  }
}

/** Decoding is done by programs of their own: as many at a time as there are processors, and no more than four. */
async function inParallel<In, Out>(
  items: readonly In[],
  work: (item: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, worker));
  return results;
}

/** Official OmniInteract videos, replayed as live conversations. */
export const omniinteract: Dataset = {
  name: 'omniinteract',
  doc: 'OmniInteract videos, replayed in real time as full-duplex conversations: a folder, a data.tar(.gz), or a hub id (lucky-lance/OmniInteract). Needs FFmpeg.',
  flags: [
    'dataset-path',
    'disable-shuffle',
    'omniinteract-subsets',
    'omniinteract-scenario-tags',
    'omniinteract-scenario-focus',
    'omniinteract-video-list',
    'omniinteract-timeout-s',
    'omniinteract-media-timeout-s',
    'omniinteract-max-video-duration-s',
    'omniinteract-ref-audio',
    'omniinteract-require-response',
    'omniinteract-output-dir',
    'omniinteract-evaluate',
    'omniinteract-judge-base-url',
    'omniinteract-judge-model',
    'omniinteract-judge-api-key',
    'omniinteract-judge-timeout-s',
    'omniinteract-judge-max-tokens',
    'judge-prompts',
    'omniinteract-eval-workers',
    'omniinteract-eval-output-dir',
    'omniinteract-eval-skip-existing',
  ],
  hasRows: true,
  defaults: { numPrompts: 3, maxConcurrency: 1 },
  load,
};
