import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Observation } from '../../src/endpoints/endpoint.ts';
import { openaiRealtimeDuplex } from '../../src/endpoints/openai-realtime-duplex.ts';
import { openaiRealtimeTts } from '../../src/endpoints/openai-realtime-tts.ts';
import { StopSwitch } from '../../src/foundation/stop-switch.ts';
import { encodeWav } from '../../src/media/wav-encode.ts';
import { serveDefaults } from '../../src/server/serve-options.ts';
import { type RunningServer, startServer } from '../../src/server/start-server.ts';
import { createTransport } from '../../src/transport/select-transport.ts';
import type { Transport } from '../../src/transport/transport.ts';

const model = 'openbmb/MiniCPM-o-4_5';
/** The sound is padded to two units of the model. */
const durationS = 1.5;

type Session = Readonly<Record<string, unknown>> & { readonly name: string };

const spoken = { at_ms: 1000, text: 'Good morning to you.', audio_s: 0.5, delta_ms: 100, rtf: 0.2 };

/** What each scripted fault of a response must end as; `null` = it ends well. */
const faults: readonly [fault: string, message: string | null][] = [
  ['no_response_id', 'response audio has no response_id'],
  ['wrong_format', 'OmniInteract output must be pcm16'],
  ['no_format', null],
  ['wrong_rate', 'OmniInteract output must use 24000 Hz audio'],
  ['no_rate', null],
  ['bad_base64', 'response audio is not valid base64'],
  ['empty_audio', 'response audio is empty or not PCM16 aligned'],
  ['odd_bytes', 'response audio is empty or not PCM16 aligned'],
  ['no_audio_payload', 'response audio payload is missing'],
  ['created_without_id', 'response.created has no response_id'],
  ['duplicate_created', 'duplicate response.created for'],
  ['done_without_id', 'response.done has no response_id'],
  ['duplicate_done', 'duplicate response.done for'],
  ['foreign_done', 'response.done without response.created for'],
  ['no_done', 'unfinished response_ids='],
];

const sessions: Session[] = [
  { name: 'spoken', responses: [spoken] },
  { name: 'listening', listen_only: true },
  { name: 'read' },
  { name: 'late', responses: [{ ...spoken, audio_s: 3 }] },
  { name: 'failed', responses: [{ ...spoken, status: 'failed' }] },
  { name: 'cancelled', responses: [{ ...spoken, status: 'cancelled', reason: 'barge_in' }] },
  { name: 'cleared', responses: [{ ...spoken, audio_s: 1.5, clear_after_s: 0.3 }] },
  { name: 'refused', refuse: { code: 'ref_audio_required', message: 'ref_audio is required' } },
  { name: 'expired', actions: [{ at_ms: 400, expire: 'idle_ttl_expired' }] },
  { name: 'broken', actions: [{ at_ms: 400, error: { code: 'engine_error', message: 'the engine died' } }] },
  { name: 'acks', responses: [spoken], refuse_acks: { code: 'playback_ack_too_late' } },
  { name: 'undecided', decision: false },
  { name: 'unmarked', listen_only: true, listen_mark: 'none' },
  { name: 'client-timed', responses: [spoken], request_metrics: false },
  ...faults.map(([fault]) => ({ name: fault, responses: [{ ...spoken, fault }] })),
];

const folder = mkdtempSync(join(tmpdir(), 'omnimeter-duplex-client-'));
let server: RunningServer;
let transport: Transport;

async function serve(name: string, script: unknown): Promise<RunningServer> {
  const duplexScript = join(folder, `${name}.json`);
  writeFileSync(duplexScript, JSON.stringify(script));
  return startServer({ ...serveDefaults, model, port: 0, duplexScript }, { logLine: () => {} });
}

beforeAll(async () => {
  server = await serve('faults', { sessions });
  transport = createTransport('socket', {
    newConnectionPerRequest: false,
    insecure: false,
    maxConnections: null,
    connectTimeoutMs: 5000,
    env: {},
  });
});
afterAll(async () => {
  transport.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

function hold(
  name: string | null,
  extra: Readonly<Record<string, unknown>> = {},
  { url = server.url, timeoutS = 5, requireResponse = false } = {},
): Promise<Observation> {
  const prepared = openaiRealtimeDuplex.prepare(
    {
      prompt: '',
      promptTokens: 0,
      expectedOutputTokens: null,
      media: [],
      requestId: `case-${name}`,
      live: {
        pcm: new Uint8Array(Math.ceil(durationS) * 32_000),
        sampleRateHz: 16_000,
        frames: [Uint8Array.of(0xff, 0xd8, 0xff, 0xd9), null],
        durationS,
        refAudio: Buffer.from('RIFF'),
        timeoutS,
        requireResponse,
        caseFacts: { subset: '1q1a' },
      },
    },
    {
      baseUrl: url,
      url: `${url}/v1/realtime`,
      model,
      headers: [],
      extraBody: {
        ...(name === null ? {} : { duplex_script: name }),
        return_stage_metrics: true,
        ...extra,
      },
      ignoreEos: false,
      logprobs: null,
      stream: true,
    },
  );
  return openaiRealtimeDuplex.observe(prepared, {
    transport,
    timeoutMs: 0,
    maxLineBytes: 1 << 20,
    stop: new StopSwitch(),
  });
}

const messageOf = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome.message);

/** All at once; a server takes four conversations. */
async function holdAll(names: readonly string[]): Promise<Map<string, Observation>> {
  const servers: RunningServer[] = [];
  try {
    for (let at = 0; at < names.length; at += 4) servers.push(await serve(`all-${at}`, { sessions }));
    const seen = names.map(
      async (name, i) => [name, await hold(name, {}, servers[Math.floor(i / 4)])] as const,
    );
    return new Map(await Promise.all(seen));
  } finally {
    await Promise.all(servers.map((each) => each.close()));
  }
}

describe('a live conversation with the embedded server', () => {
  it('is spoken, timed by the server, and heard whole', async () => {
    const [seen, byClient] = await Promise.all([
      hold('spoken', {}, { requireResponse: true }),
      hold('client-timed'),
    ]);
    expect(messageOf(seen)).toBeNull();
    expect(seen.text).toBe('Good morning to you.');
    expect(seen.audio?.durationS).toBe(0.5);
    expect(seen.duplex).toMatchObject({
      inputAudioChunks: 10,
      inputVideoFrames: 1,
      responseCount: 1,
      warnings: [],
    });
    const [row] = seen.duplex?.requestRows ?? [];
    expect(row?.timings?.source).toBe('server_request_start_and_client_receive');
    expect(row?.stageZero?.outputTokenCount).toBeGreaterThan(0);
    expect(seen.outputTokens).toBe(row?.stageZero?.outputTokenCount);
    expect(byClient.duplex?.requestRows[0]?.timings?.source).toBe('client_monotonic_receive');
    expect(Buffer.from(seen.duplexArtifacts?.wav ?? []).length).toBe(44 + 2 * 48_000);
  });

  it('ends well or as its own failure, whatever the script does', async () => {
    const seen = await holdAll([
      'listening',
      'late',
      'cancelled',
      'cleared',
      'failed',
      'refused',
      'expired',
      'broken',
      'acks',
      'undecided',
      'unmarked',
    ]);
    const messages = Object.fromEntries([...seen].map(([name, one]) => [name, messageOf(one)]));
    expect(messages).toEqual({
      listening: null,
      late: null,
      cancelled: null,
      cleared: null,
      failed: expect.stringMatching(/^response\.done reports failure for /),
      refused: 'ref_audio_required: ref_audio is required',
      expired: 'session.expired: idle_ttl_expired',
      broken: 'engine_error: the engine died',
      acks: null,
      undecided: 'Timed out waiting for committed input and stable responses',
      unmarked: 'Timed out waiting for committed input and stable responses',
    });
    const reasons = (name: string) => seen.get(name)?.duplex?.ineligibleReasons;
    expect(reasons('listening')).toEqual([]);
    expect(reasons('late')).toEqual(['audio_clipped']);
    expect(reasons('cancelled')).toContain('cancelled_response');
    expect(reasons('cleared')).toContain('cleared_response');
    expect(reasons('broken')).toEqual(['case_failed']);
    expect(seen.get('acks')?.duplex?.warnings).toEqual([
      'tolerated in-flight server rejection: playback_ack_too_late',
    ]);
  });

  it('ends as each fault of a response has it', async () => {
    const seen = await holdAll(faults.map(([fault]) => fault));
    for (const [fault, message] of faults) {
      const said = messageOf(seen.get(fault) as Observation);
      if (message === null) expect(said, fault).toBeNull();
      else expect(said, fault).toContain(message);
    }
  });

  it('beyond the server’s capacity is refused at once', async () => {
    const open = ['spoken', 'listening', 'spoken', 'listening'].map((name) => hold(name));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const fifth = await hold('spoken');
    expect(messageOf(fifth)).toMatch(/resource_exhausted.*limit=4/);
    expect((await Promise.all(open)).map(messageOf)).toEqual([null, null, null, null]);
  });

  it('is cut off with its connection', async () => {
    // Such a session keeps its place for a while: it has a server of its own.
    const cut = await serve('dropped', { sessions: [{ actions: [{ at_ms: 400, drop_socket: true }] }] });
    try {
      expect(messageOf(await hold(null, {}, { url: cut.url }))).toMatch(/^Realtime session failed: /);
    } finally {
      await cut.close();
    }
  });

  it('speaks plain texts too, one session each', async () => {
    const prepared = openaiRealtimeDuplex.prepare(
      {
        prompt: 'Read this aloud please.',
        promptTokens: 5,
        expectedOutputTokens: null,
        media: [],
        requestId: 't',
      },
      {
        baseUrl: server.url,
        url: `${server.url}/v1/realtime`,
        model,
        headers: [],
        extraBody: { ref_audio: 'data:audio/wav;base64,UklGRg==', duplex_script: 'read' },
        ignoreEos: false,
        logprobs: null,
        stream: true,
      },
    );
    const stop = new StopSwitch();
    const seen = await openaiRealtimeDuplex.observe(prepared, {
      transport,
      timeoutMs: 0,
      maxLineBytes: 1,
      stop,
    });
    expect(messageOf(seen)).toBeNull();
    expect(seen.text).toBe('Read this aloud please.');
    expect(seen.audio?.durationS).toBeGreaterThan(0.3);
    const ttfpMs = seen.duplex?.requestRows[0]?.timings?.ttfpMs ?? 0;
    // The first unit of the model closes after 1030 ms of sound.
    expect(ttfpMs).toBeGreaterThan(1000);
    expect(seen.duplex?.metrics.stream?.ttfpMs).toBe(ttfpMs);
  });

  it.each(['explicit', 'vad'])('answers a text with reference speech in turns (%s)', async (trigger) => {
    // Loud for 0.6 s at 24 kHz, so that the server's ear hears it begin and end.
    const speech = Buffer.alloc(28_800);
    for (let at = 0; at < speech.length; at += 2) speech.writeInt16LE(at % 4 === 0 ? 9000 : -9000, at);
    const wav = encodeWav(speech, { sampleRateHz: 24_000, channels: 1 });
    const prepared = openaiRealtimeTts.prepare(
      { prompt: 'Say it.', promptTokens: 3, expectedOutputTokens: null, media: [], requestId: 't' },
      {
        baseUrl: server.url,
        url: `${server.url}/v1/realtime`,
        model,
        headers: [],
        extraBody: {
          ref_audio: `data:audio/wav;base64,${wav.toString('base64')}`,
          realtime_trigger: trigger,
          duplex_script: 'read',
        },
        ignoreEos: false,
        logprobs: null,
        stream: true,
      },
    );
    const stop = new StopSwitch();
    const seen = await openaiRealtimeTts.observe(prepared, {
      transport,
      timeoutMs: 0,
      maxLineBytes: 1,
      stop,
    });
    expect(messageOf(seen)).toBeNull();
    expect(seen.audio?.durationS).toBeGreaterThan(0.1);
    expect(seen.duplex?.inputAudioChunks).toBe(trigger === 'vad' ? 11 : 3);
    expect(seen.duplex?.requestRows[0]?.timings?.origins.ttft).toMatch(/^end of reference speech/);
  });

  it('with a server of the older spelling is read all the same, and with turns found by the server', async () => {
    const old = await serve('old', {
      event_names: 'beta',
      sessions: [{ name: 'spoken', responses: [spoken] }],
    });
    try {
      const [seen, vad] = await Promise.all([
        hold('spoken', {}, { url: old.url, requireResponse: true }),
        hold(null, { turn_detection: 'server_vad' }, { url: old.url }),
      ]);
      expect(messageOf(seen)).toBeNull();
      expect(seen.text).toBe('Good morning to you.');
      expect(messageOf(vad)).toBeNull();
      expect(vad.duplex?.inputAudioChunks).toBe(18);
    } finally {
      await old.close();
    }
  });
});
